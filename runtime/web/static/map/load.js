// Reading what the server streams: one JSON value a line.

// readLines calls each(value) for every line and resolves at the end. It throws what the
// server said was wrong: {message, hint, away}.
export async function readLines(address, each, signal) {
  let answer;
  try {
    answer = await fetch(address, { signal, headers: { Accept: 'application/x-ndjson' } });
  } catch (error) {
    throw signal?.aborted ? error : { message: 'This page has lost its server: is transect still running?', away: true };
  }
  if (answer.status === 401) throw { message: 'This browser no longer has access.', hint: 'Open the address that transect printed last.' };
  if (!answer.ok) throw await answer.json().catch(() => ({ message: 'The server answered ' + answer.status + '.' }));
  const reader = answer.body.getReader(), decoder = new TextDecoder();
  let rest = '';
  for (;;) {
    let part;
    try {
      part = await reader.read();
    } catch (error) {
      throw signal?.aborted ? error : { message: 'The answer of the server broke off.', away: true };
    }
    rest += part.done ? decoder.decode() : decoder.decode(part.value, { stream: true });
    const lines = rest.split('\n');
    rest = lines.pop();
    for (const line of lines) {
      if (!line) continue;
      const value = JSON.parse(line);
      if (value.kind === 'problem') throw value;
      each(value);
    }
    if (part.done) return;
    await new Promise((resolve) => setTimeout(resolve)); // let the page draw between parts
  }
}
