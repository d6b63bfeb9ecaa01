import { type LeaderLock } from '#libs/db';
import { type Choices, type Scheduler, type SimulatedProcess } from '../kernel/index.js';
import { type Public } from './memory/memory-tables.js';

/** The server's side of the leader lock: the session that has it, if any. */
export class LockServer {
  holder: SimulatedLock | undefined;

  constructor(
    readonly scheduler: Scheduler,
    readonly choices: Choices,
  ) {}

  /** Ends the session that has the lock. Its process notices that later. */
  endSession(): void {
    const { holder } = this;
    this.holder = undefined;
    holder?.noticeLater();
  }
}

/** The lock as one process sees it. */
export class SimulatedLock implements Public<LeaderLock> {
  held = false;
  lost: Promise<Error> = new Promise(() => undefined);
  /** The process that has the lock. */
  process: SimulatedProcess | undefined;
  private settle: (reason: Error) => void = () => undefined;

  constructor(private readonly server: LockServer) {}

  tryAcquire(): Promise<boolean> {
    const { server } = this;
    if (this.held) return Promise.resolve(true);
    this.process = server.scheduler.process;
    return server.scheduler.call({
      name: 'takes the leader lock',
      ends: [
        {
          name: 'answered',
          weight: 1,
          run: () => {
            if (server.holder !== undefined && server.holder !== this) return false;
            server.holder = this;
            this.held = true;
            this.lost = new Promise((resolve) => {
              this.settle = resolve;
            });
            return true;
          },
        },
      ],
    });
  }

  seize(): Promise<void> {
    throw new Error('only a command seizes the lock');
  }

  release(): Promise<void> {
    this.held = false;
    if (this.server.holder === this) this.server.holder = undefined;
    return Promise.resolve();
  }

  /** The heartbeat finds the session gone, seconds after the server has given the lock to another process. */
  noticeLater(): void {
    const { scheduler, choices } = this.server;
    const { settle, process } = this;
    const notice = (): void => {
      scheduler.note('the leader notices that its session ended');
      this.held = false;
      settle(new Error('the session ended'));
    };
    const afterMs = choices.between('notice', 1, 7000);
    if (process) scheduler.within(process, () => scheduler.setTimer(notice, afterMs));
  }
}
