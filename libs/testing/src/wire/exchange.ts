/** Sends requests as raw bytes and parses the raw answers. */
import { once } from 'node:events';
import { connect } from 'node:net';

export interface RawAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/**
 * Sends the parts one after the other on one connection and reads until the server closes the connection. `methods`
 * lists the method of each request, since an answer to `HEAD` has no body although it announces one.
 */
export async function exchange(
  port: number,
  parts: readonly (string | Buffer)[],
  options: { methods?: readonly string[]; pauseMs?: number; end?: boolean } = {},
): Promise<RawAnswer[]> {
  const socket = connect(port, '127.0.0.1');
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  const closed = new Promise<void>((resolve) => {
    socket.on('close', () => {
      resolve();
    });
  });
  socket.on('error', () => undefined);
  for (const part of parts) {
    socket.write(typeof part === 'string' ? Buffer.from(part, 'latin1') : part);
    const pause = new Promise((resolve) => setTimeout(resolve, options.pauseMs ?? 20));
    await (isExpecting(part) ? Promise.race([once(socket, 'data'), closed]) : pause);
  }
  if (options.end === true) socket.end();
  await closed;
  return answersIn(Buffer.concat(chunks), options.methods ?? []);
}

/** Whether the server says that it has read this part, before it gets the next one. */
function isExpecting(part: string | Buffer): boolean {
  return part.includes('Expect: 100-continue');
}

function answersIn(bytes: Buffer, methods: readonly string[]): RawAnswer[] {
  const answers: RawAnswer[] = [];
  for (let at = 0; at < bytes.length;) {
    const end = bytes.indexOf('\r\n\r\n', at);
    const [statusLine = '', ...lines] = bytes.toString('latin1', at, end).split('\r\n');
    const headers = Object.fromEntries(
      lines.map((line) => {
        const colon = line.indexOf(':');
        return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const;
      }),
    );
    const status = Number(statusLine.split(' ')[1]);
    const isHead = methods[answers.length] === 'HEAD';
    const length = status < 200 || isHead ? 0 : Number(headers['content-length'] ?? 0);
    const body = bytes.toString('utf8', end + 4, end + 4 + length);
    at = end + 4 + length;
    if (status >= 200) answers.push({ status, headers, body });
  }
  return answers;
}
