import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo } from 'node:net';

/**
 * A test server on the loopback interface, at a port that the system chooses. An error while it serves a request closes
 * the connection.
 */
export abstract class LoopbackServer {
  protected readonly server = createServer((request, response) => {
    this.serve(request, response).catch((error: unknown) => {
      response.destroy(error instanceof Error ? error : undefined);
    });
  });

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async listen(): Promise<this> {
    await new Promise<void>((resolve, reject) => {
      this.server.once('error', reject).listen(0, '127.0.0.1', resolve);
    });
    return this;
  }

  /** Closes the server and all open connections. */
  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => {
      this.server.close(() => {
        resolve();
      });
    });
    this.server.closeAllConnections();
    await closed;
  }

  protected abstract serve(request: IncomingMessage, response: ServerResponse): Promise<void>;
}
