/**
 * The redemption service as an operator starts it, in its own process. Needs a build. Named as a test file, without
 * tests of its own.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { compileCache } from '#libs/testing/programs';

export class RegistryProgram {
  private constructor(private readonly child: ChildProcess) {}

  static start(environment: Readonly<Record<string, string>>): RegistryProgram {
    const child = spawn(process.execPath, ['dist/apps/redemption/src/main.js'], {
      stdio: ['ignore', 'ignore', 'inherit'],
      env: {
        ...compileCache(),
        REDEMPTION_PORT: '0',
        LISTEN_HOST: '127.0.0.1',
        ...environment,
      },
    });
    return new RegistryProgram(child);
  }

  /** Ends the process at once, so that it cannot shut down properly. */
  kill(): void {
    this.child.kill('SIGKILL');
  }

  get hasEnded(): boolean {
    return this.child.exitCode !== null || this.child.signalCode !== null;
  }

  async ended(): Promise<void> {
    if (!this.hasEnded) await once(this.child, 'exit');
  }
}
