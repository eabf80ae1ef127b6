// The strip of thumbnails: the photos in view, in order of time. It makes elements only for what
// is visible of it, so that it may stand for 100,000 photos.

const cell = 116; // pixels of a thumbnail with its margin
const pause = 120; // milliseconds without scrolling before pictures are asked for

export class Strip {
  // element has role listbox; on has select(photo), hover(photo) and thumb(photo) -> address or ''.
  constructor(element, photos, on) {
    this.element = element;
    this.photos = photos;
    this.on = on;
    this.list = []; // photos, in order
    this.cells = new Map(); // place in the list to its element
    this.selected = -1;
    this.inner = document.createElement('div');
    this.inner.className = 'strip-inner';
    element.append(this.inner);
    element.addEventListener('scroll', () => this.scrolled(), { passive: true });
    element.addEventListener('keydown', (event) => this.key(event));
    new ResizeObserver(() => this.render()).observe(element);
  }

  // show replaces the photos.
  show(list) {
    if (list.length === this.list.length && list.every((p, i) => p === this.list[i])) {
      this.render();
      return;
    }
    this.list = list;
    for (const c of this.cells.values()) c.remove();
    this.cells.clear();
    this.inner.style.width = list.length * cell + 'px';
    this.render();
  }

  // forget drops all cells: other photos have the same numbers now.
  forget() {
    for (const c of this.cells.values()) c.remove();
    this.cells.clear();
    this.list = [];
  }

  scrolled() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.load(), pause);
    this.render(true);
  }

  render(moving) {
    const first = Math.max(0, Math.floor(this.element.scrollLeft / cell) - 2);
    const last = Math.min(this.list.length, Math.ceil((this.element.scrollLeft + this.element.clientWidth) / cell) + 2);
    for (const [i, c] of this.cells) {
      if (i < first || i >= last) {
        c.remove();
        this.cells.delete(i);
      }
    }
    for (let i = first; i < last; i++) if (!this.cells.has(i)) this.make(i);
    if (!moving) this.load();
  }

  make(i) {
    const photo = this.list[i], c = document.createElement('div');
    c.className = 'thumb';
    c.id = 'thumb-' + i;
    c.setAttribute('role', 'option');
    c.setAttribute('aria-selected', photo === this.selected);
    c.setAttribute('aria-setsize', this.list.length);
    c.setAttribute('aria-posinset', i + 1);
    c.dataset.state = this.photos.states[photo];
    c.style.left = i * cell + 'px';
    const name = document.createElement('span');
    const text = document.createElement('bdi'); // the span is cut at its beginning
    text.textContent = this.photos.names[photo].split('/').pop();
    name.append(text);
    c.title = this.photos.names[photo];
    c.append(name);
    c.addEventListener('click', () => this.on.select(photo));
    c.addEventListener('pointerenter', () => this.on.hover(photo));
    c.addEventListener('pointerleave', () => this.on.hover(-1));
    this.cells.set(i, c);
    this.inner.append(c);
  }

  // load asks for the pictures of the cells that are there.
  load() {
    for (const [i, c] of this.cells) {
      if (c.firstChild.tagName === 'IMG') continue;
      const address = this.on.thumb(this.list[i]);
      if (!address) continue;
      const image = document.createElement('img');
      image.alt = '';
      image.decoding = 'async';
      image.onerror = () => image.remove();
      image.src = address;
      c.prepend(image);
    }
  }

  // select marks a photo and scrolls to it.
  select(photo, scroll = true) {
    this.selected = photo;
    const i = this.list.indexOf(photo);
    if (i >= 0 && scroll) {
      const left = i * cell, box = this.element;
      if (left < box.scrollLeft || left + cell > box.scrollLeft + box.clientWidth) {
        box.scrollLeft = left - (box.clientWidth - cell) / 2;
      }
      this.render();
    }
    for (const [k, c] of this.cells) c.setAttribute('aria-selected', k === i);
    if (i >= 0) this.element.setAttribute('aria-activedescendant', 'thumb-' + i);
    else this.element.removeAttribute('aria-activedescendant');
  }

  // hover marks the photo under the pointer on the map.
  hover(photo) {
    for (const [k, c] of this.cells) c.classList.toggle('hover', this.list[k] === photo);
  }

  key(event) {
    const i = this.list.indexOf(this.selected), last = this.list.length - 1;
    const to = { ArrowRight: i + 1, ArrowLeft: i < 0 ? 0 : i - 1, Home: 0, End: last }[event.key];
    if (to === undefined || last < 0) return;
    event.preventDefault();
    this.on.select(this.list[Math.max(0, Math.min(last, to))]);
  }
}
