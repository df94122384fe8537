/// On Windows what it declares is in posix.h, which is included before everything.
