/// A small pull parser for untrusted XML: elements, attributes, text. No document types, so no
/// entities but the five of the standard; nesting is bounded; nothing is allocated.
#ifndef CUTIS_IO_XML_H
#define CUTIS_IO_XML_H

#include "io/text.h"

enum { CUTIS_XML_DEPTH = 32 };

typedef enum cutis_xml_event {
    CUTIS_XML_END_OF_FILE,
    CUTIS_XML_START, ///< `name`, attributes by cutis_xml_attribute
    CUTIS_XML_TEXT,  ///< `value`, without blanks at its ends, never empty; entities as they stand
    CUTIS_XML_END,   ///< `name`
    CUTIS_XML_ERROR, ///< `error` says what; `line` where
} cutis_xml_event;

typedef struct cutis_xml {
    const char *at, *end;
    size_t line;
    cutis_span open[CUTIS_XML_DEPTH];
    uint32_t depth;
    bool closing; ///< the element just started ends at once
    cutis_span name, value, attributes;
    const char *error;
} cutis_xml;

cutis_xml cutis_xml_begin(const char *data, size_t size);
cutis_xml_event cutis_xml_next(cutis_xml *xml);
/// An attribute of the element just started, by name in either case, as it stands. false: not
/// there.
bool cutis_xml_attribute(const cutis_xml *xml, const char *name, cutis_span *out);
/// Decode the five entities into `out` (at most span.size bytes and a terminator). @return its
/// length
size_t cutis_xml_decode(cutis_span span, char *out);

#endif
