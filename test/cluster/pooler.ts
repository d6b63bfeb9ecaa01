import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { freePort, ManagedProcess } from '#libs/devprocess';
import { programPath } from '../../libs/testing/src/jest/programs.mjs';

const SHIPPED = 'deploy/ha/pgbouncer.ini';

/** PgBouncer with the settings of deploy/ha, on a loopback port. */
export class Pooler {
  private constructor(
    private readonly process: ManagedProcess,
    readonly port: number,
  ) {}

  /** @param haproxyPort port of HAProxy, which forwards to the primary */
  static async start(folder: string, haproxyPort: number, password: string): Promise<Pooler> {
    await mkdir(folder);
    await chmod(folder, 0o755);
    const port = await freePort();
    const [file, users] = [join(folder, 'pgbouncer.ini'), join(folder, 'users.txt')];
    const settings = {
      lowmark: `host=127.0.0.1 port=${haproxyPort}`,
      listen_addr: '127.0.0.1',
      listen_port: String(port),
      auth_file: users,
    };
    let text = await readFile(SHIPPED, 'utf8');
    for (const [name, value] of Object.entries(settings)) {
      text = text.replace(new RegExp(`^${name} = .*$`, 'm'), `${name} = ${value}`);
    }
    await writeFile(file, text);
    await writeFile(users, `"pgbouncer" "${password}"\n`);
    const process = await ManagedProcess.start({
      command: programPath('pgbouncer') ?? 'pgbouncer',
      // PgBouncer refuses to run as root.
      args: [...(userInfo().uid === 0 ? ['-u', 'postgres'] : []), file],
      logFile: join(folder, 'pgbouncer.log'),
      stopSignal: 'SIGINT',
    });
    return new Pooler(process, port);
  }

  stop(): Promise<void> {
    return this.process.stop();
  }
}
