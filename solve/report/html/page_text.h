// The page's style and scripts, which the Makefile makes from the files next to this one.
#ifndef PLUMBLINE_SOLVE_REPORT_HTML_PAGE_TEXT_H
#define PLUMBLINE_SOLVE_REPORT_HTML_PAGE_TEXT_H

extern const char page_style[], page_script[]; // ended by 0

#endif
