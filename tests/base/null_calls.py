"""Writes a C program that calls every function of the public headers with NULL: for all pointers at once, and for each one with
good values for the others. None may crash, and what a failing one would have made must be NULL. Each call runs in a process of its own; the program prints "ok" or "not ok" lines.

python3 null_calls.py INCLUDE_FOLDER > null_calls.c
"""
import pathlib
import re
import sys

# What stands for a type when it is not NULL; every other pointer is to zeroed memory.
GOOD = {
    'cutis_context *': 'context', 'cutis_device *': 'device', 'cutis_model *': 'model', 'cutis_binding *': 'binding',
    'cutis_sampler *': 'sampler', 'cutis_buffer *': 'buffer', 'cutis_handle_session *': 'session', 'cutis_renderer *': 'renderer',
    'cutis_frame_writer *': 'writer', 'char *': '"/nonexistent/file"',
    'cutis_cage_report *': 'NULL', 'cutis_check_report *': 'NULL', 'cutis_crowd *': 'NULL', 'cutis_baker *': 'NULL', 'cutis_handles_report *': 'NULL', 'cutis_live *': 'NULL',
    'cutis_pose_fit_report *': 'NULL', 'cutis_reduce_report *': 'NULL', 'cutis_skeleton_report *': 'NULL', 'cutis_handle_file *': 'NULL',
}


def functions(folder):
    """(name, [(type, is pointer)], does it return a result) of what the headers declare."""
    for header in sorted(pathlib.Path(folder, 'cutis').glob('*.h')):
        text = re.sub(r'//[^\n]*', '', header.read_text())
        text = re.sub(r'^#.*(\\\n.*)*$', '', text, flags=re.M)
        for result, name, parameters in re.findall(r'CUTIS_API\s([^;()]*?)\b(cutis_\w+)\(([^;]*)\);', text):
            types = []
            for parameter in re.split(r',\s*', ' '.join(parameters.split())):
                if parameter == 'void': continue
                array = parameter.endswith(']')
                kind = re.sub(r'\w+(\[\d*\])?$', '', parameter).replace('const ', '').strip() + (' *' if array else '')
                types.append((kind, '*' in kind))
            yield name, types, ' '.join(result.split()) == 'cutis_result'


def value(kind, pointer, place):
    if not pointer:
        return f'({kind}){{ 0 }}' if kind.startswith('cutis_') else '1'
    return GOOD.get(kind, f'(void *)memory[{place}]')


def main():
    found = list(functions(sys.argv[1]))
    headers = ''.join(f'#include <cutis/{h.name}>\n' for h in sorted(pathlib.Path(sys.argv[1], 'cutis').glob('*.h')))
    cases, rows = [], []
    for name, types, results in found:
        pointers = [i for i, t in enumerate(types) if t[1]]
        for missing in ([pointers] if len(pointers) > 1 else []) + [[i] for i in pointers]:
            arguments = ', '.join('NULL' if i in missing else value(*t, i) for i, t in enumerate(types))
            label = f'{name}_without_' + ('anything' if len(missing) > 1 else f'argument_{missing[0] + 1}')
            rows.append(f'    {{ "{label}", call_{len(cases)} }},')
            # Objects that a failing call did not make are NULL.
            made = [i for i, t in enumerate(types) if results and re.fullmatch(r'cutis_\w+ \*\*', t[0]) and i not in missing]
            before = ''.join(f'memory[{i}][0] = 81; ' for i in made)
            after = ''.join(f' if (result) check(memory[{i}]);' for i in made)
            call = f'int result = {name}({arguments});' if made else f'(void){name}({arguments});'
            cases.append(f'static void call_{len(cases)}(void) {{ {before}{call}{after} }}')
    print(f'''{headers}
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static char memory[8][1 << 24];
static cutis_context *context;
static cutis_device *device;
static cutis_model *model;
static cutis_binding *binding;
static cutis_sampler *sampler;
static cutis_buffer *buffer;
static cutis_handle_session *session;
static cutis_renderer *renderer;
static cutis_frame_writer *writer;

static void check(const char *made)
{{
    for (size_t i = 0; i < sizeof(void *); i++)
        if (made[i]) _exit(3);
}}

{chr(10).join(cases)}

static const struct {{
    const char *name;
    void (*call)(void);
}} CASES[] = {{
{chr(10).join(rows)}
}};

static void objects(const char *folder)
{{
    char path[4096];
    snprintf(path, sizeof path, "%s/frames.npy", folder);
    cutis_synth_options arm = {{ .body = CUTIS_BODY_ARM, .vertex_count = 1000 }};
    // One thread, so that a forked process has all of them.
    if (cutis_context_create(NULL, &context) || cutis_synth_create(context, &arm, &model) ||
        cutis_device_create(context, &(cutis_device_options){{ .thread_count = 1 }}, &device) ||
        cutis_bind(device, model, NULL, &binding) || cutis_sampler_create(model, 0, &sampler) ||
        cutis_buffer_create(device, 64, &buffer) || cutis_handle_session_create(model, device, NULL, &session) ||
        cutis_frame_writer_create(context, path, 2, 3, 30, &writer))
        printf("not ok the_objects_are_made: %s\\n", cutis_context_error(context)), exit(1);
    cutis_renderer_create(context, &renderer);
}}

int main(int argc, char **argv)
{{
    int bad = 0;
    (void)argc;
    objects(argv[1]);
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {{
        int status = 0;
        fflush(stdout);
        pid_t child = fork();
        if (child == 0) {{
            alarm(60);
            CASES[i].call();
            _exit(0);
        }}
        waitpid(child, &status, 0);
        if (!WIFEXITED(status) || WEXITSTATUS(status)) {{
            printf("not ok %s: %s %d\\n", CASES[i].name, WIFSIGNALED(status) ? "signal" : "exit",
                   WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
            bad++;
        }}
    }}
    printf("%s NULL_crashes_none_of_{len(found)}_functions_in_%zu_calls%s\\n", bad ? "not ok" : "ok", sizeof CASES / sizeof CASES[0],
           bad ? ": see above" : "");
    return bad != 0;
}}''')


main()
