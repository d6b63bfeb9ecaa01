/** An object store with an S3 interface over TLS: Debian's OpenStack Swift on the loopback interface, with one disk. */
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { get } from 'node:https';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { freePort, ManagedProcess } from '#libs/devprocess';
import { eventually } from '#libs/testing/clock';

/** Filters of the proxy in the order of a request. Swift adds the ones on which these depend. */
const FILTERS = {
  catch_errors: 'catch_errors',
  gatekeeper: 'gatekeeper',
  cache: 'memcache',
  listing_formats: 'listing_formats',
  bulk: 'bulk',
  s3api: 's3api',
  tempauth: 'tempauth',
  copy: 'copy',
  slo: 'slo',
};

export class ObjectStore {
  readonly key = 'lowmark:backups';
  readonly secret = randomBytes(18).toString('base64url');
  private readonly services: ManagedProcess[] = [];

  private constructor(
    private readonly folder: string,
    readonly port: number,
  ) {}

  static async start(): Promise<ObjectStore> {
    const folder = mkdtempSync(join(tmpdir(), 'lowmark-swift-'));
    // PostgreSQL's user must be able to read the certificate.
    chmodSync(folder, 0o711);
    const store = new ObjectStore(folder, await freePort());
    mkdirSync(join(folder, 'disks/one'), { recursive: true });
    const policy = '[storage-policy:0]\nname = one\ndefault = yes\n';
    store.write('swift.conf', `[swift-hash]\nswift_hash_path_suffix = test\n${policy}`);
    try {
      for (const kind of ['account', 'container', 'object']) await store.startDisk(kind);
      await store.startProxy();
    } catch (error) {
      await store.stop();
      throw error;
    }
    return store;
  }

  /** Certificate of the store, self-signed. */
  get certificate(): string {
    return join(this.folder, 'certificate.pem');
  }

  async stop(): Promise<void> {
    await Promise.all(this.services.map((service) => service.stop()));
    rmSync(this.folder, { recursive: true });
  }

  private async startDisk(kind: string): Promise<void> {
    const port = await freePort();
    const ring = [
      ['create', '4', '1', '0'],
      ['add', `r1z1-127.0.0.1:${port}/one`, '1'],
      ['rebalance'],
    ];
    for (const words of ring) {
      const options = { cwd: this.folder, stdio: 'pipe' } as const;
      execFileSync('swift-ring-builder', [`${kind}.builder`, ...words], options);
    }
    await this.startServer(`${kind}-server`, port, {
      DEFAULT: { devices: join(this.folder, 'disks'), mount_check: 'false' },
      'pipeline:main': { pipeline: `${kind}-server` },
      [`app:${kind}-server`]: { use: `egg:swift#${kind}` },
    });
  }

  private async startProxy(): Promise<void> {
    const keyFile = join(this.folder, 'key.pem');
    const request = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2'];
    const name = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'];
    const files = ['-keyout', keyFile, '-out', this.certificate];
    execFileSync('openssl', [...request, ...name, ...files], { stdio: 'pipe' });
    const filters = Object.entries(FILTERS).map(([name, use]) => [
      `filter:${name}`,
      {
        use: `egg:swift#${use}`,
        ...(name === 'tempauth' && { user_lowmark_backups: `${this.secret} .admin` }),
      },
    ]);
    const proxy = await this.startServer('proxy-server', this.port, {
      DEFAULT: { cert_file: this.certificate, key_file: keyFile },
      'pipeline:main': { pipeline: [...Object.keys(FILTERS), 'proxy-server'].join(' ') },
      'app:proxy-server': { use: 'egg:swift#proxy', account_autocreate: 'true' },
      ...(Object.fromEntries(filters) as Record<string, Record<string, string>>),
    });
    const answers = async (): Promise<boolean> => {
      if (!proxy.isRunning) throw new Error((await proxy.tail()).join('\n'));
      return this.answers();
    };
    await eventually(answers, { withinMs: 60_000, what: 'the object store answers' });
  }

  private async answers(): Promise<boolean> {
    const ca = readFileSync(this.certificate);
    const request = get({ host: 'localhost', port: this.port, path: '/', ca, agent: false });
    try {
      const [answer] = (await once(request, 'response')) as [NodeJS.ReadableStream];
      answer.resume();
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ECONNREFUSED') return false;
      throw error;
    }
  }

  private async startServer(
    name: string,
    port: number,
    sections: Readonly<Record<string, Readonly<Record<string, string>>>>,
  ): Promise<ManagedProcess> {
    const own = {
      ...{ bind_ip: '127.0.0.1', bind_port: String(port), workers: '0' },
      ...{ user: userInfo().username, swift_dir: this.folder },
    };
    const text = Object.entries({ ...sections, DEFAULT: { ...own, ...sections['DEFAULT'] } })
      .map(([section, settings]) => {
        const lines = Object.entries(settings).map(([key, value]) => `${key} = ${value}\n`);
        return `[${section}]\n${lines.join('')}`;
      })
      .join('');
    const args = [this.write(`${name}.conf`, text), 'verbose'];
    const logFile = join(this.folder, `${name}.log`);
    const server = await ManagedProcess.start({ command: `swift-${name}`, args, logFile });
    this.services.push(server);
    return server;
  }

  private write(name: string, text: string): string {
    const path = join(this.folder, name);
    writeFileSync(path, text, { mode: 0o600 });
    return path;
  }
}
