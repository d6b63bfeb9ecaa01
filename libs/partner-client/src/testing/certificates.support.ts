/** X.509 certificates made at run time, so that tests use real TLS and no certificate in the repository expires. */
import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';

export interface Issued {
  /** PEM. */
  readonly certificate: string;
  /** PEM, PKCS #8. */
  readonly key: string;
}

interface Authority extends Issued {
  issue(subject: Subject): Issued;
}

export interface Subject {
  readonly dnsNames?: readonly string[];
  /** Dotted IPv4. */
  readonly addresses?: readonly string[];
  /** End of the validity in Unix milliseconds, 48 hours after its beginning. Default: in 24 hours. */
  readonly validToMs?: number;
}

const HOUR_MS = 3_600_000;

/** A certificate authority, which is not trusted until its certificate is given as trusted. */
export function anAuthority(name = 'Test authority'): Authority {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const validToMs = Date.now() + 24 * HOUR_MS;
  const isAuthority = extension('551d13', true, sequence(Buffer.from([0x01, 0x01, 0xff])));
  const own = certify({ issuer: name, signer: privateKey }, name, {
    publicKey,
    validToMs,
    extensions: [isAuthority],
  });
  return {
    certificate: own,
    key: pem('PRIVATE KEY', privateKey.export({ type: 'pkcs8', format: 'der' })),
    issue: ({ dnsNames = [], addresses = [], validToMs: until = validToMs }) => {
      const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' });
      const names = [
        ...dnsNames.map((dns) => der(0x82, Buffer.from(dns))),
        ...addresses.map((ip) => der(0x87, Buffer.from(ip.split('.').map(Number)))),
      ];
      const certificate = certify({ issuer: name, signer: privateKey }, 'Test partner', {
        publicKey: pair.publicKey,
        validToMs: until,
        extensions: [extension('551d11', false, sequence(...names))],
      });
      const key = pem('PRIVATE KEY', pair.privateKey.export({ type: 'pkcs8', format: 'der' }));
      return { certificate, key };
    },
  };
}

function certify(
  { issuer, signer }: { issuer: string; signer: KeyObject },
  subject: string,
  content: { publicKey: KeyObject; validToMs: number; extensions: Buffer[] },
): string {
  const algorithm = sequence(oid('2a8648ce3d040302')); // ecdsa-with-SHA256
  const body = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))), // version 3
    der(0x02, Buffer.concat([Buffer.from([1]), randomBytes(15)])), // serial number
    algorithm,
    commonName(issuer),
    sequence(time(content.validToMs - 48 * HOUR_MS), time(content.validToMs)),
    commonName(subject),
    content.publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(...content.extensions)),
  );
  const signature = Buffer.concat([Buffer.from([0]), sign('sha256', body, signer)]);
  return pem('CERTIFICATE', sequence(body, algorithm, der(0x03, signature)));
}

function extension(id: string, isCritical: boolean, value: Buffer): Buffer {
  const critical = isCritical ? [Buffer.from([0x01, 0x01, 0xff])] : [];
  return sequence(oid(id), ...critical, der(0x04, value));
}

function commonName(text: string): Buffer {
  return sequence(der(0x31, sequence(oid('550403'), der(0x0c, Buffer.from(text)))));
}

function time(ms: number): Buffer {
  const digits = new Date(ms).toISOString().replace(/\.\d+|[-:T]/g, '');
  return der(0x18, Buffer.from(digits));
}

function oid(hex: string): Buffer {
  return der(0x06, Buffer.from(hex, 'hex'));
}

function sequence(...parts: Buffer[]): Buffer {
  return der(0x30, Buffer.concat(parts));
}

function der(tag: number, content: Buffer): Buffer {
  const { length } = content;
  const size =
    length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

function pem(label: string, bytes: Buffer): string {
  const lines = bytes.toString('base64').match(/.{1,64}/g) ?? [];
  return [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`, ''].join('\n');
}
