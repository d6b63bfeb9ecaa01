import { type Address } from '#libs/domain';
import { type StakeEventSpec } from '../events/stake-event.js';
import { toQuantity } from '../shape/hex.js';
import { bloomBits, type BloomBits, mayContain } from './bloom.js';

/** Which logs are ours: of these contracts, with one of these events. */
export class LogFilter {
  readonly topics: readonly string[];
  private readonly addressSet: ReadonlySet<string>;
  private readonly topicSet: ReadonlySet<string>;
  private readonly addressBits: ReadonlyMap<string, BloomBits>;
  private readonly topicBits: ReadonlyMap<string, BloomBits>;

  constructor(
    readonly addresses: readonly Address[],
    events: readonly StakeEventSpec[],
  ) {
    this.topics = [...new Set(events.map((event) => event.topic0))];
    this.addressSet = new Set(addresses);
    this.topicSet = new Set(this.topics);
    const bits = (item: string): [string, BloomBits] => [item, bloomBits(item as `0x${string}`)];
    this.addressBits = new Map(addresses.map(bits));
    this.topicBits = new Map(this.topics.map(bits));
  }

  /** The parameter of eth_getLogs for a range. */
  forRange(from: bigint, to: bigint): Record<string, unknown> {
    return { fromBlock: toQuantity(from), toBlock: toQuantity(to), ...this.what() };
  }

  /** The parameter of eth_getLogs for a block and all that the node has after it. */
  from(first: bigint): Record<string, unknown> {
    return { fromBlock: toQuantity(first), toBlock: 'latest', ...this.what() };
  }

  /** The parameter of eth_getLogs for one block; a node that does not know it answers with an error (EIP-234). */
  forBlock(blockHash: string): Record<string, unknown> {
    return { blockHash, ...this.what() };
  }

  isOurs(address: string, topic0: string): boolean {
    return this.addressSet.has(address) && this.topicSet.has(topic0);
  }

  /** Whether a block's bloom allows a log of this address and event. */
  inBloom(bloom: string, address: string, topic0: string): boolean {
    const addressBits = this.addressBits.get(address);
    const topicBits = this.topicBits.get(topic0);
    if (!addressBits || !topicBits) return false;
    return mayContain(bloom, addressBits) && mayContain(bloom, topicBits);
  }

  /**
   * Whether a block's bloom speaks of one of our events that the block's logs do not account for. An address and a topic that
   * are both in the bloom for the sake of logs we have seen prove nothing.
   * @param seen addresses and topics of the logs that we have of the block
   */
  isSuspect(bloom: string, seen: ReadonlySet<string> | undefined): boolean {
    for (const [address, addressBits] of this.addressBits) {
      if (!mayContain(bloom, addressBits)) continue;
      for (const [topic, topicBits] of this.topicBits) {
        if (seen?.has(address) && seen.has(topic)) continue;
        if (mayContain(bloom, topicBits)) return true;
      }
    }
    return false;
  }

  private what(): Record<string, unknown> {
    const address = this.addresses.length === 1 ? this.addresses[0] : this.addresses;
    return { address, topics: [this.topics] };
  }
}
