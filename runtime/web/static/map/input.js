// Mouse, wheel, touch and keyboard on the canvas, as calls of handlers:
//   pan(dx, dy)  zoom(by, px, py)  click(px, py)  hover(px, py)  leave()  key(name) -> handled

const clickReach = 5; // pixels a pointer may move and still click

export function listen(canvas, handlers) {
  const pointers = new Map(); // id to [x, y], of those pressed
  let moved = 0, pinch = 0;

  const place = (event) => {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  const spread = () => {
    const [a, b] = [...pointers.values()];
    return Math.hypot(a[0] - b[0], a[1] - b[1]);
  };

  canvas.addEventListener('pointerdown', (event) => {
    if (event.button > 0) return;
    canvas.setPointerCapture(event.pointerId);
    pointers.set(event.pointerId, place(event));
    if (pointers.size === 1) moved = 0;
    if (pointers.size === 2) pinch = spread();
  });
  canvas.addEventListener('pointermove', (event) => {
    const [x, y] = place(event), before = pointers.get(event.pointerId);
    if (!before) {
      handlers.hover(x, y);
      return;
    }
    const dx = x - before[0], dy = y - before[1];
    moved += Math.abs(dx) + Math.abs(dy);
    pointers.set(event.pointerId, [x, y]);
    if (pointers.size === 1) {
      if (moved > clickReach) handlers.pan(dx, dy);
    } else if (pointers.size === 2) {
      const [a, b] = [...pointers.values()], now = spread();
      handlers.pan(dx / 2, dy / 2);
      if (pinch > 0 && now > 0) handlers.zoom(Math.log2(now / pinch), (a[0] + b[0]) / 2, (a[1] + b[1]) / 2);
      pinch = now;
    }
  });
  const up = (event) => {
    const was = pointers.get(event.pointerId);
    pointers.delete(event.pointerId);
    if (was && event.type === 'pointerup' && pointers.size === 0 && moved <= clickReach) handlers.click(...was);
  };
  canvas.addEventListener('pointerup', up);
  canvas.addEventListener('pointercancel', up);
  canvas.addEventListener('pointerleave', () => handlers.leave());
  canvas.addEventListener('dblclick', (event) => handlers.double(...place(event)));
  canvas.addEventListener('wheel', (event) => {
    event.preventDefault();
    const lines = event.deltaMode === 1 ? 33 : 1;
    handlers.zoom(Math.max(-1, Math.min(1, -event.deltaY * lines / 300)), ...place(event));
  }, { passive: false });
  canvas.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (handlers.key(event.key, event.shiftKey)) event.preventDefault();
  });
}
