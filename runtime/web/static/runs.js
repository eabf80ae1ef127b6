// The pages of runs and jobs: what changed replaces what was there, and the log grows.

import { on } from "./page.js";

// replace puts new content into the elements with these ids. What had the focus
// keeps it.
function replace(parts) {
  for (const [id, html] of Object.entries(parts)) {
    const element = document.getElementById(id);
    if (!element) continue;
    const focused = element.contains(document.activeElement) ? document.activeElement : null;
    const place = focused && [...element.querySelectorAll("a, summary, button")].indexOf(focused);
    const open = [...element.querySelectorAll("details")].map((d) => d.open);
    element.innerHTML = html; // made by the server's templates
    element.querySelectorAll("details").forEach((d, i) => (d.open = open[i] ?? d.open));
    if (focused) element.querySelectorAll("a, summary, button")[place]?.focus({ preventScroll: true });
  }
}
on("parts", replace);

const log = document.getElementById("log");
const mostLines = 3000; // in the page; the whole log has a link
function grow({ lines, fresh }) {
  const end = log.scrollHeight - log.scrollTop - log.clientHeight < 30; // follow, unless somebody reads above
  document.getElementById("log-empty")?.remove();
  let text = fresh ? lines : log.textContent + lines;
  const all = text.split("\n");
  if (all.length > mostLines + 1) text = all.slice(-mostLines - 1).join("\n");
  log.textContent = text;
  if (end || fresh) log.scrollTop = log.scrollHeight;
}
on("lines", grow);
if (log) log.scrollTop = log.scrollHeight;

for (const button of document.querySelectorAll("[data-copy]")) {
  if (!navigator.clipboard) continue; // only where the page is on this machine
  button.hidden = false;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent);
    button.textContent = "Copied";
    setTimeout(() => (button.textContent = "Copy"), 2000);
  });
}
