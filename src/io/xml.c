// The XML pull parser. Invariant: `at` only moves forward and every byte is looked at a bounded
// number of times, so time is linear in the file; the stack of open elements is a fixed array.
#include "io/xml.h"

#include <string.h>

cutis_xml cutis_xml_begin(const char *data, size_t size)
{
    cutis_text text = cutis_text_begin(data, size); // steps over a byte order mark
    cutis_xml xml = { .at = text.at, .end = text.end, .line = 1 };
    return xml;
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool is_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == ':' || c == '.';
}

static void advance(cutis_xml *xml, const char *to)
{
    for (; xml->at < to; xml->at++) xml->line += *xml->at == '\n';
}

static cutis_xml_event fail(cutis_xml *xml, const char *reason)
{
    xml->error = reason;
    xml->at = xml->end;
    return CUTIS_XML_ERROR;
}

static bool starts(const cutis_xml *xml, const char *text)
{
    size_t size = strlen(text);
    return (size_t)(xml->end - xml->at) >= size && memcmp(xml->at, text, size) == 0;
}

// Steps past the next `text`; false if there is none.
static bool skip_past(cutis_xml *xml, const char *text)
{
    size_t size = strlen(text);
    for (const char *at = xml->at; (size_t)(xml->end - at) >= size; at++) {
        if (memcmp(at, text, size) != 0) continue;
        advance(xml, at + size);
        return true;
    }
    return false;
}

static cutis_span take_name(cutis_xml *xml)
{
    cutis_span name = { xml->at, 0 };
    while (xml->at < xml->end && is_name(*xml->at)) xml->at++;
    name.size = (size_t)(xml->at - name.data);
    return name;
}

static cutis_xml_event take_end_tag(cutis_xml *xml)
{
    xml->at += 2;
    cutis_span name = take_name(xml);
    while (xml->at < xml->end && is_space(*xml->at)) advance(xml, xml->at + 1);
    if (xml->at == xml->end || *xml->at != '>') return fail(xml, "an end tag does not end");
    xml->at++;
    if (xml->depth == 0 || !cutis_span_equal(xml->open[xml->depth - 1], name))
        return fail(xml, "an end tag without its start");
    xml->depth--;
    xml->name = name;
    return CUTIS_XML_END;
}

static cutis_xml_event take_start_tag(cutis_xml *xml)
{
    xml->at++;
    cutis_span name = take_name(xml);
    if (name.size == 0) return fail(xml, "'<' without a name");
    if (xml->depth == CUTIS_XML_DEPTH) return fail(xml, "elements nested deeper than 32");
    const char *at = xml->at;
    char quote = 0;
    for (; at < xml->end && (quote || *at != '>'); at++) {
        if (quote ? *at == quote : (*at == '"' || *at == '\'')) quote = quote ? 0 : *at;
        if (!quote && *at == '<') return fail(xml, "'<' inside a tag");
    }
    if (at == xml->end) return fail(xml, "a tag does not end");
    xml->closing = at > xml->at && at[-1] == '/';
    xml->attributes = (cutis_span){ xml->at, (size_t)(at - xml->at) - xml->closing };
    advance(xml, at + 1);
    xml->open[xml->depth++] = name;
    xml->name = name;
    return CUTIS_XML_START;
}

static bool take_text(cutis_xml *xml, const char *stop)
{
    const char *start = xml->at, *end = stop;
    while (start < end && is_space(*start)) start++;
    while (end > start && is_space(end[-1])) end--;
    xml->value = (cutis_span){ start, (size_t)(end - start) };
    advance(xml, stop);
    return xml->value.size > 0;
}

cutis_xml_event cutis_xml_next(cutis_xml *xml)
{
    if (xml->closing) {
        xml->closing = false;
        xml->name = xml->open[--xml->depth];
        return CUTIS_XML_END;
    }
    while (xml->at < xml->end) {
        const char *tag = memchr(xml->at, '<', (size_t)(xml->end - xml->at));
        if (!tag) tag = xml->end;
        if (tag > xml->at) {
            if (!take_text(xml, tag)) continue;
            return xml->depth ? CUTIS_XML_TEXT : fail(xml, "text outside of every element");
        }
        if (starts(xml, "<!--")) {
            if (!skip_past(xml, "-->")) return fail(xml, "a comment does not end");
        } else if (starts(xml, "<?")) {
            if (!skip_past(xml, "?>")) return fail(xml, "a processing instruction does not end");
        } else if (starts(xml, "<!")) {
            return fail(xml, "document types are not read");
        } else {
            return starts(xml, "</") ? take_end_tag(xml) : take_start_tag(xml);
        }
    }
    if (xml->error) return CUTIS_XML_ERROR;
    return xml->depth ? fail(xml, "the file ends inside an element") : CUTIS_XML_END_OF_FILE;
}

bool cutis_xml_attribute(const cutis_xml *xml, const char *name, cutis_span *out)
{
    const char *at = xml->attributes.data, *end = at + xml->attributes.size;
    while (at < end) {
        while (at < end && !is_name(*at)) at++;
        cutis_span key = { at, 0 };
        while (at < end && is_name(*at)) at++;
        key.size = (size_t)(at - key.data);
        while (at < end && is_space(*at)) at++;
        if (at == end || *at != '=') continue;
        at++;
        while (at < end && is_space(*at)) at++;
        if (at == end || (*at != '"' && *at != '\'')) continue;
        char quote = *at++;
        const char *close = at < end ? memchr(at, quote, (size_t)(end - at)) : NULL;
        if (!close) return false;
        *out = (cutis_span){ at, (size_t)(close - at) };
        if (cutis_span_is_any_case(key, name)) return true;
        at = close + 1;
    }
    return false;
}

size_t cutis_xml_decode(cutis_span span, char *out)
{
    static const struct {
        const char *name;
        char c;
    } ENTITIES[] = {
        { "&lt;", '<' }, { "&gt;", '>' }, { "&amp;", '&' }, { "&quot;", '"' }, { "&apos;", '\'' }
    };
    size_t length = 0;
    for (size_t i = 0; i < span.size;) {
        size_t step = 1;
        char c = span.data[i] ? span.data[i] : '?';
        for (size_t k = 0; c == '&' && k < 5; k++) {
            size_t size = strlen(ENTITIES[k].name);
            if (span.size - i < size || memcmp(span.data + i, ENTITIES[k].name, size) != 0)
                continue;
            c = ENTITIES[k].c;
            step = size;
            break;
        }
        out[length++] = c;
        i += step;
    }
    out[length] = 0;
    return length;
}
