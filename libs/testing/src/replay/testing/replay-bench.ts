import { DevRpc } from '#libs/devchain';
import { type ProviderBehaviour } from '../provider-behaviour.js';
import { type ReplayProvider, startReplayProvider } from '../replay-provider.js';
import { type ReplayShape } from '../replay-shape.js';
import { aShape } from './a-shape.js';

/** A replay provider of a small chain, and a client for it. */
export class ReplayBench {
  provider!: ReplayProvider;
  rpc!: DevRpc;

  async start(behaviour: ProviderBehaviour = {}, shape: Partial<ReplayShape> = {}): Promise<void> {
    const source = aShape(shape);
    this.provider = await startReplayProvider({ source, behaviour, tracksRepeats: true });
    this.rpc = new DevRpc(this.provider.url);
  }

  async stop(): Promise<void> {
    this.rpc.close();
    await this.provider.close();
  }

  ourLogs(from: number, to: number): Promise<unknown[]> {
    return this.rpc.call('eth_getLogs', {
      address: this.provider.chain.contracts.staking,
      fromBlock: `0x${from.toString(16)}`,
      toBlock: `0x${to.toString(16)}`,
    });
  }
}
