// Loaded by every page: the page's one stream of events, and the notice about a
// platform that is away.
//
// Modules of a page follow their topics like this:
//
//   import { on } from "./page.js";
//   on("run", (data, topic) => …);      // every event of a kind
//
// The topics are those of the view (data-topics of the body); follow(topic) adds
// one later. See events.go.

const listeners = new Map(); // kind -> functions
const topics = new Set((document.body.dataset.topics || "").split(" ").filter(Boolean));
let source = null;
let lastID = document.body.dataset.after || "";
let gone = ""; // the notice that the server does not answer
let silence = 0;

export function on(kind, listener) {
  if (!listeners.has(kind)) {
    listeners.set(kind, []);
    if (source) attach(source, kind);
  }
  listeners.get(kind).push(listener);
}

export function follow(topic) {
  if (topics.has(topic)) return;
  topics.add(topic);
  reopen();
}

function attach(stream, kind) {
  stream.addEventListener(kind, (event) => {
    lastID = event.lastEventId;
    const { topic, data } = JSON.parse(event.data);
    for (const listener of listeners.get(kind) || []) listener(data, topic);
  });
}

function reopen() {
  if (source) source.close();
  source = null;
  if (topics.size === 0 || document.hidden) return;
  const query = new URLSearchParams();
  for (const topic of topics) query.append("topic", topic);
  if (lastID) query.set("after", lastID);
  const stream = (source = new EventSource("/events?" + query));
  for (const kind of new Set([...listeners.keys()])) attach(stream, kind);
  stream.addEventListener("end", () => stream.close());
  stream.addEventListener("open", () => {
    clearTimeout(silence);
    silence = 0;
    if (gone) notice((gone = ""));
  });
  stream.addEventListener("error", () => {
    silence ||= setTimeout(() => {
      silence = 0;
      if (source && source.readyState !== EventSource.OPEN) notice((gone = "transect does not respond: was it stopped? This page tries again by itself."));
    }, 6000);
    // EventSource gives up after an answer that is no stream, such as 401.
    if (stream.readyState === EventSource.CLOSED) setTimeout(() => stream === source && reopen(), 5000);
  });
}

// notice shows a line above the page; "" hides it.
export function notice(text) {
  const line = document.getElementById("notice");
  line.textContent = text;
  line.hidden = !text;
}

let wanted = false; // another refresh
let refreshing = false;

// refresh fetches the page again and replaces what is in main, unless somebody
// is filling in a form of it. One answer is awaited at a time: an older one must not
// replace a newer one.
export async function refresh() {
  wanted = true;
  if (refreshing) return;
  for (refreshing = true; wanted; ) {
    wanted = false;
    await replaceMain();
  }
  refreshing = false;
}

async function replaceMain() {
  const main = document.getElementById("main");
  if (main.contains(document.activeElement) && document.activeElement.matches("input, select, textarea")) return;
  try {
    const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const fresh = page.getElementById("main");
    if (fresh) main.replaceChildren(...fresh.childNodes);
  } catch {
    // the server has gone: the stream says so
  }
}

let away = false;
on("platform", (state) => {
  if (state.away) notice("The platform cannot be reached: " + state.message + ". This page tries again by itself.");
  else if (away) {
    notice("");
    if (document.querySelector("[data-live]")) refresh();
  }
  away = state.away;
});

on("products", (data) => {
  if (data.changed) refresh();
});

document.addEventListener("visibilitychange", reopen); // browsers open few connections to one server
window.addEventListener("pagehide", () => source && source.close());
window.addEventListener("pageshow", (event) => event.persisted && reopen());
document.addEventListener("DOMContentLoaded", reopen); // all modules of the page have registered then
