import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createServer } from 'node:tls';

export interface TlsServer {
  /** `host:port` */
  readonly address: string;
  stop(): Promise<void>;
}

/** A TLS server with a self-signed certificate that expires in `days` days. */
export async function startTlsServer(folder: string, days: number): Promise<TlsServer> {
  const [key, cert] = [join(folder, 'tls.key'), join(folder, 'tls.crt')];
  const request = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256'];
  const words = ['-nodes', '-subj', '/CN=localhost', '-days', String(days)];
  execFileSync('openssl', [...request, ...words, '-keyout', key, '-out', cert], {
    stdio: 'pipe',
  });
  const server = createServer({ key: readFileSync(key), cert: readFileSync(cert) }, (socket) => {
    socket.on('error', () => undefined).end();
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: async () => {
      await new Promise((closed) => server.close(closed));
    },
  };
}
