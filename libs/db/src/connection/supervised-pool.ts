import pg, { type PoolClient, type PoolConfig } from 'pg';
import { SupervisedClient, type Supervision } from './supervised-client.js';

export interface SupervisedPoolConfig extends PoolConfig {
  readonly supervision: Supervision;
}

type Connected = (error: Error | undefined, client?: PoolClient, release?: () => void) => void;

/** pg's pool for a URL with several hosts: where a connection fails, the next host is tried. */
export class SupervisedPool extends pg.Pool {
  private readonly supervision: Supervision;

  constructor(config: SupervisedPoolConfig) {
    // The pool makes each client with the pool's whole configuration.
    super({ ...config, Client: SupervisedClient } as unknown as PoolConfig);
    this.supervision = config.supervision;
  }

  override connect(): Promise<PoolClient>;
  override connect(callback: Connected): void;
  override connect(callback?: Connected): Promise<PoolClient> | void {
    const { hosts } = this.supervision;
    if (hosts.isSingle) {
      if (callback === undefined) return super.connect();
      super.connect(callback as never);
      return;
    }
    const connecting = hosts.attempt(() => super.connect());
    if (callback === undefined) return connecting;
    connecting.then(
      (client) => {
        callback(undefined, client, client.release.bind(client));
      },
      (error: unknown) => {
        callback(error as Error, undefined, () => undefined);
      },
    );
  }
}
