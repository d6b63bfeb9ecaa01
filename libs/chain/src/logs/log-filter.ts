/** Which logs are of our contracts and events. */
import { type Address } from '#libs/domain';
import { toQuantity } from '../rpc/hex.js';
import { type StakeEventSpec } from '../stake/stake-event.js';

export class LogFilter {
  readonly topics: readonly string[];
  private readonly addressSet: ReadonlySet<string>;
  private readonly topicSet: ReadonlySet<string>;

  constructor(
    readonly addresses: readonly Address[],
    events: readonly StakeEventSpec[],
  ) {
    this.topics = [...new Set(events.map((event) => event.topic0))];
    this.addressSet = new Set(addresses);
    this.topicSet = new Set(this.topics);
  }

  forRange(from: bigint, to: bigint): Record<string, unknown> {
    return { fromBlock: toQuantity(from), toBlock: toQuantity(to), ...this.what() };
  }

  /**
   * Parameters of eth_getLogs that give the logs of a range together, each fewer: by event, then by event and contract.
   * Empty if there is one event of one contract.
   */
  partsOf(from: bigint, to: bigint): Record<string, unknown>[][] {
    const range = { fromBlock: toQuantity(from), toBlock: toQuantity(to) };
    const byTopic = this.topics.map((topic) => ({ ...this.what(), topics: [[topic]] }));
    const byContract = byTopic.flatMap((one) =>
      this.addresses.map((address) => ({ ...one, address })),
    );
    return [byTopic, byContract]
      .filter((parts, level) => parts.length > (level === 0 ? 1 : byTopic.length))
      .map((parts) => parts.map((part) => ({ ...range, ...part })));
  }

  /** The parameter of eth_getLogs for a block and all later blocks that the node has. */
  from(first: bigint): Record<string, unknown> {
    return { fromBlock: toQuantity(first), toBlock: 'latest', ...this.what() };
  }

  /**
   * The parameter of eth_getLogs for one block; a node that does not know the block answers with an error (EIP-234).
   */
  forBlock(blockHash: string): Record<string, unknown> {
    return { blockHash, ...this.what() };
  }

  isOurs(address: string, topic0: string): boolean {
    return this.addressSet.has(address) && this.topicSet.has(topic0);
  }

  private what(): Record<string, unknown> {
    const address = this.addresses.length === 1 ? this.addresses[0] : this.addresses;
    return { address, topics: [this.topics] };
  }
}
