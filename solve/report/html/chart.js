// The schedule: tracks of operations on a canvas as high as its frame, which scrolls over all of
// them. Operations are told apart by letters and patterns, not by colour alone.
(function () {
  const source = document.getElementById('schedule-data');
  if (!source) return;
  const data = JSON.parse(source.textContent);
  const byId = (id) => document.getElementById(id);
  const frame = byId('chart-frame'), canvas = byId('chart'), rest = byId('chart-rest');
  const tip = byId('chart-tip'), status = byId('chart-status'), pen = canvas.getContext('2d');
  const AXIS = 24, MARGIN = 58, GAP = 6;
  const HEIGHTS = { compute: 24, link: 14, delay: 14, sync: 14 };
  const ORDER = { compute: 0, link: 1, delay: 1, sync: 2 };

  // ---- what an operation is, by the name of its symbol

  const styles = {
    forward: { letter: 'F', name: 'forward', ground: '#cfe0f5' },
    backward: { letter: 'B', name: 'backward', ground: '#6f9bd0' },
    weight: { letter: 'W', name: 'weight gradient', ground: '#fff', lines: 'M4 0V8' },
    blocked: { letter: '', name: 'transfer in the compute stream', ground: '#fff',
      lines: 'M0 4H8' },
    onward: { letter: '', name: 'transfer forward', ground: '#fff',
      lines: 'M-1 5L5 -1M-1 9L9 -1M3 9L9 3' },
    back: { letter: '', name: 'transfer backward', ground: '#c8ccd2',
      lines: 'M-1 3L5 9M-1 -1L9 9M3 -1L9 5' },
    sync: { letter: 'S', name: 'gradient sync', ground: '#fff', lines: 'M0 0L8 8M8 0L0 8' },
    optimizer: { letter: 'O', name: 'optimizer', ground: '#333', ink: '#fff' },
  };

  function styleOf(name, track) {
    if (name.startsWith('send_')) {
      if (track === 'compute') return 'blocked';
      return name.startsWith('send_forward') ? 'onward' : 'back';
    }
    if (name.endsWith('sync')) return 'sync';
    return name.split('.')[0];
  }

  function fillOf(style) {
    if (!style.lines) return style.ground;
    const tile = document.createElement('canvas');
    tile.width = tile.height = 8;
    const p = tile.getContext('2d');
    p.fillStyle = style.ground;
    p.fillRect(0, 0, 8, 8);
    p.strokeStyle = '#1d2733';
    p.stroke(new Path2D(style.lines));
    return pen.createPattern(tile, 'repeat');
  }

  // ---- tracks, from columns of integers

  function decode(t) {
    const n = t.s.length, last = [];
    const x = { kind: t.kind, rank: t.rank, to: t.to, count: n, symbol: t.s,
      start: new Float64Array(n), end: new Float64Array(n), micro: new Int32Array(n),
      critical: new Uint8Array(n) };
    x.symbols = t.symbols.map(([name, place, duration]) =>
      ({ name, place, duration, style: styleOf(name, t.kind) }));
    for (let i = 0, at = 0; i < n; i++) {
      const k = t.s[i];
      x.start[i] = at + t.g[i];
      at = x.end[i] = x.start[i] + x.symbols[k].duration;
      last[k] = x.micro[i] = (k in last ? last[k] : -1) + 1 + t.m[i];
    }
    let at = 0;
    for (const step of t.c) x.critical[at += step] = 1;
    return x;
  }

  const tracks = data.tracks.map(decode)
    .sort((a, b) => a.rank - b.rank || ORDER[a.kind] - ORDER[b.kind] || a.to - b.to);
  const used = new Set(tracks.flatMap((t) => t.symbols.map((s) => s.style)));
  for (const key of used) styles[key].fill = fillOf(styles[key]);

  const view = { from: 0, to: data.span };
  const least = Math.max(1, data.span / 1e6);
  let rows = [], height = 0, width = 0, chosen = null, held = 0, critical = false;

  function layOut() {
    const all = byId('transfers').checked;
    let y = AXIS, rank = -1;
    rows = [];
    for (const track of tracks) {
      if (!all && track.kind !== 'compute') continue;
      if (track.rank !== rank) y += GAP;
      rows.push({ track, y, height: HEIGHTS[track.kind], first: track.rank !== rank });
      y += HEIGHTS[track.kind] + 1;
      rank = track.rank;
    }
    height = y + GAP;
  }

  // ---- time

  const xOf = (ns) => MARGIN + (ns - view.from) / (view.to - view.from) * (width - MARGIN);
  const nsOf = (x) => view.from + (x - MARGIN) / (width - MARGIN) * (view.to - view.from);

  function timeText(ns) {
    if (Math.abs(ns) >= 1e9) return (ns / 1e9).toFixed(6) + ' s';
    if (Math.abs(ns) >= 1e6) return (ns / 1e6).toFixed(3) + ' ms';
    return (ns / 1e3).toFixed(3) + ' us';
  }

  function tickText(ns, step) {
    const [size, unit] = view.to >= 1e9 && step >= 1e6 ? [1e9, 's']
      : view.to >= 1e6 && step >= 1e3 ? [1e6, 'ms'] : [1e3, 'us'];
    const digits = Math.max(0, Math.ceil(-Math.log10(step / size) - 1e-9));
    return (ns / size).toFixed(digits) + ' ' + unit;
  }

  function show(from, to) {
    const length = Math.min(data.span, Math.max(least, to - from));
    view.from = Math.min(Math.max(0, from), data.span - length);
    view.to = view.from + length;
    canvas.dataset.from = view.from;
    canvas.dataset.to = view.to;
    draw();
  }

  function zoom(factor, at) {
    const centre = at === undefined ? (view.from + view.to) / 2 : at;
    show(centre - (centre - view.from) * factor, centre + (view.to - centre) * factor);
  }

  function pan(share) {
    const by = share * (view.to - view.from);
    show(view.from + by, view.to + by);
  }

  // ---- drawing

  // The first operation of a track that ends behind this instant.
  function firstBehind(track, ns) {
    let low = 0, high = track.count;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (track.end[middle] > ns) high = middle; else low = middle + 1;
    }
    return low;
  }

  function drawLabel(track, i, x, right, y, h) {
    const style = styles[track.symbols[track.symbol[i]].style];
    const label = style.letter + (track.micro[i] >= 0 ? track.micro[i] : '');
    const room = right - x - 4, size = h >= 20 ? 12 : 10;
    if (!style.letter || room < size * 0.6) return;
    pen.font = size + 'px system-ui, Arial, sans-serif';
    const text = room >= label.length * size * 0.6 ? label : style.letter;
    if (style.lines) {
      pen.fillStyle = '#fff';
      pen.fillRect(x + 2, y + (h - size) / 2, text.length * size * 0.62 + 2, size);
    }
    pen.fillStyle = style.ink || '#000';
    pen.fillText(text, x + 3, y + h / 2 + size * 0.36);
  }

  function drawOperation(row, i, x, right, y) {
    const track = row.track, style = styles[track.symbols[track.symbol[i]].style];
    pen.globalAlpha = critical && !track.critical[i] ? 0.15 : 1;
    pen.fillStyle = style.lines && right - x < 4 ? '#666' : style.fill;
    pen.fillRect(x, y, right - x, row.height);
    if (right - x >= 3) {
      pen.strokeRect(x + 0.5, y + 0.5, right - x - 1, row.height - 1);
      drawLabel(track, i, Math.max(x, MARGIN), right, y, row.height);
    }
    if (track.critical[i]) {
      pen.fillStyle = '#000';
      pen.fillRect(x, y + row.height - 3, right - x, 3);
    }
    pen.globalAlpha = 1;
  }

  // What lies within a pixel that is painted already is passed over.
  function drawRow(row, y) {
    const track = row.track;
    let painted = -1;
    pen.strokeStyle = '#1d2733';
    pen.lineWidth = 1;
    for (let i = firstBehind(track, view.from); i < track.count; i++) {
      if (track.start[i] >= view.to) break;
      const end = Math.min(xOf(track.end[i]), width);
      if (end - painted < 0.8) continue;
      const x = Math.max(xOf(track.start[i]), MARGIN, painted);
      drawOperation(row, i, x, Math.max(end, x + 0.8), y);
      painted = end;
    }
    if (chosen && chosen.row === row) {
      const x = Math.max(xOf(track.start[chosen.i]), MARGIN), right = xOf(track.end[chosen.i]);
      pen.strokeStyle = '#c2410c';
      pen.lineWidth = 3;
      if (right > MARGIN) pen.strokeRect(x, y, Math.max(right - x, 3), row.height);
    }
  }

  function nameOf(row) {
    if (row.first) return (data.virtual_stages > 1 ? 'rank ' : 'stage ') + row.track.rank;
    return row.track.kind === 'sync' ? 'sync' : '\u2192 ' + row.track.to;
  }

  function drawAxis() {
    const span = view.to - view.from, rough = span / Math.max(2, (width - MARGIN) / 110);
    const power = Math.pow(10, Math.floor(Math.log10(rough)));
    const step = power * [1, 2, 5, 10].find((x) => x * power >= rough);
    pen.fillStyle = '#fff';
    pen.fillRect(0, 0, width, AXIS);
    pen.fillStyle = pen.strokeStyle = '#000';
    pen.lineWidth = 1;
    pen.font = '11px system-ui, Arial, sans-serif';
    for (let t = Math.ceil(view.from / step) * step; t <= view.to; t += step) {
      const text = tickText(t, step), x = xOf(t), end = x + 3 + pen.measureText(text).width;
      pen.fillRect(x, AXIS - 8, 1, 8);
      if (end < width) pen.fillText(text, x + 3, 12);
    }
    pen.fillRect(MARGIN, AXIS - 1, width - MARGIN, 1);
  }

  function draw() {
    const scale = window.devicePixelRatio || 1, seen = Math.min(height, frame.clientHeight);
    pen.setTransform(scale, 0, 0, scale, 0, 0);
    pen.fillStyle = '#fff';
    pen.fillRect(0, 0, width, seen);
    for (const row of rows) {
      const y = row.y - frame.scrollTop;
      if (y + row.height < AXIS || y > seen) continue;
      pen.fillStyle = '#dfe4ea';
      pen.fillRect(MARGIN, y + row.height - 1, width - MARGIN, 1);
      drawRow(row, y);
      pen.fillStyle = '#fff';
      pen.fillRect(0, y, MARGIN - 1, row.height);
      pen.fillStyle = '#000';
      pen.font = (row.first ? 'bold 11px' : '10px') + ' system-ui, Arial, sans-serif';
      pen.fillText(nameOf(row), 4, y + row.height / 2 + 4);
    }
    drawAxis();
  }

  function resize() {
    const scale = window.devicePixelRatio || 1;
    canvas.style.height = '0';
    rest.style.height = height + 'px';
    width = frame.clientWidth;
    const seen = Math.min(height, frame.clientHeight);
    rest.style.height = height - seen + 'px';
    canvas.style.height = seen + 'px';
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(seen * scale);
    show(view.from, view.to);
  }

  // ---- pointing at an operation

  function describe(row, i) {
    const t = row.track, symbol = t.symbols[t.symbol[i]], sent = symbol.name.startsWith('send_');
    const what = sent ? styles[symbol.style].name + ' (' + symbol.name.split('.').pop() + ')'
      : symbol.name.replace('_', ' ');
    return what + (t.micro[i] >= 0 ? ', micro-batch ' + t.micro[i] : '') +
      (sent ? ', behind stage ' : ', stage ') + symbol.place +
      (data.virtual_stages > 1 ? ', rank ' + t.rank : '') + ': starts ' + timeText(t.start[i]) +
      ', takes ' + timeText(symbol.duration) + (t.critical[i] ? ', on the critical path' : '');
  }

  function choose(row, i) {
    chosen = row && i >= 0 && i < row.track.count ? { row, i } : null;
    status.textContent = chosen ? describe(row, i) : '';
    draw();
  }

  function place(event) {
    const box = canvas.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  }

  function point(event) {
    const at = place(event), y = at.y + frame.scrollTop;
    const row = at.y < AXIS || at.x < MARGIN ? undefined
      : rows.find((r) => y >= r.y && y < r.y + r.height);
    const slack = (view.to - view.from) / (width - MARGIN), ns = nsOf(at.x);
    const i = row ? firstBehind(row.track, ns - slack) : -1;
    choose(row && i < row.track.count && row.track.start[i] <= ns + slack ? row : null, i);
    tip.hidden = !chosen;
    if (!chosen) return;
    tip.textContent = status.textContent;
    tip.style.left = Math.max(0, Math.min(at.x + 12, width - tip.offsetWidth - 4)) + 'px';
    const below = at.y + 18 + tip.offsetHeight < canvas.clientHeight;
    tip.style.top = frame.scrollTop + (below ? at.y + 16 : at.y - tip.offsetHeight - 8) + 'px';
  }

  const fingers = new Map();

  function drag(event) {
    const before = fingers.get(event.pointerId), now = place(event);
    const perPixel = (view.to - view.from) / (width - MARGIN);
    fingers.set(event.pointerId, now);
    tip.hidden = true;
    if (fingers.size === 2) {
      const [a, b] = fingers.values(), other = a === now ? b : a;
      const apart = Math.max(10, Math.abs(now.x - other.x));
      zoom(Math.max(10, Math.abs(before.x - other.x)) / apart, nsOf((now.x + other.x) / 2));
    } else {
      if (event.pointerType === 'mouse') frame.scrollTop -= now.y - before.y;
      show(view.from - (now.x - before.x) * perPixel, view.to - (now.x - before.x) * perPixel);
    }
    held += Math.abs(now.x - before.x) + Math.abs(now.y - before.y);
  }

  canvas.addEventListener('pointerdown', (event) => {
    canvas.focus({ preventScroll: true });
    canvas.setPointerCapture(event.pointerId);
    fingers.set(event.pointerId, place(event));
    held = 0;
  });
  canvas.addEventListener('pointermove', (event) =>
    fingers.has(event.pointerId) ? drag(event) : point(event));
  canvas.addEventListener('pointerup', (event) => {
    fingers.delete(event.pointerId);
    if (held < 4) point(event);
  });
  canvas.addEventListener('pointercancel', (event) => fingers.delete(event.pointerId));
  canvas.addEventListener('pointerleave', () => { tip.hidden = true; });

  // The wheel scrolls the page until the chart is clicked, or with the control key.
  canvas.addEventListener('wheel', (event) => {
    if (!event.ctrlKey && document.activeElement !== canvas) return;
    event.preventDefault();
    if (event.deltaX || event.shiftKey) pan((event.deltaX || event.deltaY) / width);
    else zoom(event.deltaY > 0 ? 1.25 : 0.8, nsOf(Math.max(MARGIN, place(event).x)));
  }, { passive: false });

  // ---- keys

  function reveal() {
    const { row, i } = chosen, start = row.track.start[i], length = view.to - view.from;
    if (row.y - frame.scrollTop < AXIS) frame.scrollTop = row.y - AXIS - GAP;
    if (row.y + row.height - frame.scrollTop > frame.clientHeight)
      frame.scrollTop = row.y + row.height - frame.clientHeight + GAP;
    if (start < view.from || start >= view.to) show(start - length / 4, start + length * 3 / 4);
    else draw();
  }

  function step(by) {
    if (!chosen) choose(rows[0], firstBehind(rows[0].track, view.from));
    else choose(chosen.row, Math.min(Math.max(chosen.i + by, 0), chosen.row.track.count - 1));
    if (chosen) reveal();
  }

  function changeRow(by) {
    if (!chosen) return step(0);
    const row = rows[rows.indexOf(chosen.row) + by], at = chosen.row.track.start[chosen.i];
    if (!row) return undefined;
    choose(row, Math.min(firstBehind(row.track, at), row.track.count - 1));
    return reveal();
  }

  const keys = {
    '+': () => zoom(0.5), '=': () => zoom(0.5), '-': () => zoom(2), '0': () => show(0, data.span),
    'Home': () => show(0, view.to - view.from),
    'End': () => show(data.span - (view.to - view.from), data.span),
    'ArrowLeft': () => pan(-0.2), 'ArrowRight': () => pan(0.2),
    'ArrowUp': () => changeRow(-1), 'ArrowDown': () => changeRow(1),
    ',': () => step(-1), '.': () => step(1), 'Escape': () => { choose(null); canvas.blur(); },
  };
  canvas.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !keys[event.key]) return;
    event.preventDefault();
    tip.hidden = true;
    keys[event.key]();
  });

  const buttons = { 'zoom-in': () => zoom(0.5), 'zoom-out': () => zoom(2),
    'pan-left': () => pan(-0.5), 'pan-right': () => pan(0.5), 'whole': () => show(0, data.span) };
  for (const id of Object.keys(buttons)) byId(id).addEventListener('click', buttons[id]);
  byId('transfers').addEventListener('change', () => { choose(null); layOut(); resize(); });
  byId('critical').addEventListener('change', (event) => {
    critical = event.target.checked;
    draw();
  });

  // ---- the legend, and all of it

  for (const key of Object.keys(styles)) {
    if (!used.has(key)) continue;
    const item = document.createElement('span'), swatch = document.createElement('canvas');
    swatch.width = 26;
    swatch.height = 14;
    const p = swatch.getContext('2d');
    p.fillStyle = styles[key].fill;
    p.fillRect(0, 0, 26, 14);
    p.strokeRect(0.5, 0.5, 25, 13);
    p.fillStyle = styles[key].ink || '#000';
    p.font = '11px Arial, sans-serif';
    if (!styles[key].lines) p.fillText(styles[key].letter, 9, 11);
    item.append(swatch, ' ' + styles[key].name);
    byId('chart-legend').append(item);
  }
  byId('chart-legend').append('a black edge below: on the critical path');

  byId('controls').hidden = byId('chart-hint').hidden = frame.hidden = false;
  frame.addEventListener('scroll', draw);
  window.addEventListener('resize', resize);
  window.addEventListener('beforeprint', () => { frame.style.maxHeight = 'none'; resize(); });
  window.addEventListener('afterprint', () => { frame.style.maxHeight = ''; resize(); });
  layOut();
  resize();
})();
