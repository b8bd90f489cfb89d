'use strict';
// Tables whose headings sort them: numbers by size, with units of time made alike, words by
// letters; what says nothing stays last.
(function () {
  const units = { s: 1e9, ms: 1e6, us: 1e3 };

  function valueOf(row, column) {
    const text = row.cells[column].textContent.trim();
    const found = /^([-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?)\s*(s|ms|us)?\b/.exec(text);
    if (text === '' || text === '-') return null;
    return found ? Number(found[1]) * (units[found[2]] || 1) : text;
  }

  function compare(a, b) {
    if (typeof a === 'number' && typeof b === 'number') return a - b;
    return String(a).localeCompare(String(b));
  }

  function sort(table, heading) {
    const up = heading.getAttribute('aria-sort') !== 'ascending';
    const body = table.tBodies[0];
    const rows = Array.from(body.rows, (row, place) =>
      ({ row, place, value: valueOf(row, heading.cellIndex) }));
    rows.sort((a, b) => {
      if (a.value === null || b.value === null)
        return (a.value === null) - (b.value === null) || a.place - b.place;
      return (up ? 1 : -1) * compare(a.value, b.value) || a.place - b.place;
    });
    for (const x of rows) body.append(x.row);
    for (const th of table.tHead.rows[0].cells) th.removeAttribute('aria-sort');
    heading.setAttribute('aria-sort', up ? 'ascending' : 'descending');
  }

  for (const table of document.querySelectorAll('table.sortable'))
    for (const heading of table.tHead.querySelectorAll('th')) {
      const button = document.createElement('button');
      button.type = 'button';
      button.append(...heading.childNodes);
      button.addEventListener('click', () => sort(table, heading));
      heading.append(button);
    }
})();
