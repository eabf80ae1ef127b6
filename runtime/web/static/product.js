// The log of a product as it comes.
import { on, refresh } from "./page.js";

const most = 2000;
const log = document.getElementById("log");

function line(l) {
  const row = document.createElement("span");
  row.className = "line " + (l.level || "");
  const at = document.createElement("span");
  at.className = "quiet";
  at.textContent = l.time + "  ";
  row.append(at, l.text + "\n");
  return row;
}

on("log", (data) => {
  if (data.ended || !log?.isConnected) { // a page that was refreshed has all lines so far
    refresh();
    return;
  }
  if (data.first) log.replaceChildren(); // the stream begins with the first line
  log.hidden = false;
  document.getElementById("no-log")?.remove();
  const atEnd = log.scrollHeight - log.scrollTop - log.clientHeight < 40;
  log.append(...data.lines.map(line));
  while (log.childElementCount > most) log.firstElementChild.remove();
  if (atEnd) log.scrollTop = log.scrollHeight;
});

if (log) log.scrollTop = log.scrollHeight;
