/** Which logs are of our contracts and events, and what they do to balances. */
import { PermanentError, type Address, type StakeDelta, ZERO_ADDRESS } from '#libs/domain';
import { type AmountSlot, type StakeEventSpec } from '../stake/stake-event.js';
import { toQuantity } from '../rpc/hex.js';

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

/** A contract emits an event that the settings describe differently. No other node would answer otherwise. */
export class EventMismatchError extends PermanentError {
  constructor(blockNumber: number, spec: StakeEventSpec, found: string) {
    super(
      'STAKE_EVENT_MISMATCH',
      `A log of ${spec.signature} in block ${blockNumber} has ${found}. Check the types and the word "indexed" in STAKE_EVENTS.`,
    );
  }
}

interface EventLog {
  readonly topics: readonly unknown[];
  /** Checked to be `0x` and lower-case hex digits. */
  readonly data: string;
}

/** What transfers sent to the zero address. */
interface Burnt {
  burnt: bigint;
}

interface Sink {
  readonly into: StakeDelta[];
  readonly burnt: Burnt;
}

type EventLogOfBlock = EventLog & { readonly blockNumber: number };

const WORD = /^0x[0-9a-f]{64}$/i;
const ADDRESS_WORD = /^0x0{24}[0-9a-f]{40}$/;

/**
 * Decodes the hex of a log directly into its effects on balances. Reads only the fields that are needed, and allocates
 * nothing that is not kept.
 */
export class EventDecoder {
  /** Searched from the front: the list is short, and comparing is cheaper than hashing every topic. */
  private readonly kinds: readonly { readonly topic0: string; readonly specs: StakeEventSpec[] }[];

  constructor(events: readonly StakeEventSpec[]) {
    const topics = [...new Set(events.map((event) => event.topic0))];
    this.kinds = topics.map((topic0) => ({
      topic0,
      specs: events.filter((event) => event.topic0 === topic0),
    }));
  }

  /**
   * Appends the effects of one log. An amount of zero has no effect, and the zero address has no balance: what it receives
   * is added to `burnt`.
   * @returns undefined, or what is malformed about the log
   * @throws EventMismatchError if the log has another layout than the settings say
   */
  decode(
    log: EventLogOfBlock,
    into: StakeDelta[],
    burnt: Burnt = { burnt: 0n },
  ): string | undefined {
    const topic0 = log.topics[0];
    for (const kind of this.kinds) {
      if (kind.topic0 === topic0) return decodeAs(kind.specs, log, { into, burnt });
    }
    return 'an event we did not ask for';
  }
}

function decodeAs(
  specs: readonly StakeEventSpec[],
  log: EventLogOfBlock,
  sink: Sink,
): string | undefined {
  let fits = false;
  for (const spec of specs) {
    if (log.topics.length !== spec.topics) continue;
    fits = true;
    if (log.data.length < 2 + spec.dataWords * 64) {
      const found = `${log.data.length / 2 - 1} bytes of data`;
      throw new EventMismatchError(log.blockNumber, spec, found);
    }
    if (spec.where.length > 0 && !matches(spec, log)) continue;
    const fault = apply(spec, log, sink);
    if (fault !== undefined) return fault;
  }
  const [spec] = specs;
  if (!fits && spec) {
    const found = `${log.topics.length - 1} indexed fields`;
    throw new EventMismatchError(log.blockNumber, spec, found);
  }
  return undefined;
}

function apply(spec: StakeEventSpec, log: EventLog, { into, burnt }: Sink): string | undefined {
  const account = walletIn(wordAt(log, spec.account));
  if (account === undefined) return 'an account that is not an address';
  const amountWord = wordAt(log, spec.amount);
  if (spec.amount.in === 'topic' && !WORD.test(amountWord)) return 'an amount that is not a word';
  const amount = BigInt(amountWord);
  if (amount === 0n) return undefined;
  if (account !== ZERO_ADDRESS) {
    into.push({ wallet: account, amount: spec.effect === 'increase' ? amount : -amount });
  }
  if (!spec.receiver) return undefined;
  const receiver = walletIn(wordAt(log, spec.receiver));
  if (receiver === undefined) return 'a receiver that is not an address';
  if (receiver === ZERO_ADDRESS) burnt.burnt += amount;
  else into.push({ wallet: receiver, amount });
  return undefined;
}

/** The address in a word; undefined where it holds something else. */
function walletIn(word: string): Address | undefined {
  const lower = word.toLowerCase();
  return ADDRESS_WORD.test(lower) ? (`0x${lower.slice(26)}` as Address) : undefined;
}

/** Whether one of the events counts this log: its layout fits, and the conditions of `where` hold. */
export function isCounted(events: readonly StakeEventSpec[], log: EventLog): boolean {
  return events.some(
    (spec) =>
      spec.topic0 === log.topics[0] && spec.topics === log.topics.length && matches(spec, log),
  );
}

function matches(spec: StakeEventSpec, log: EventLog): boolean {
  return spec.where.every(({ slot, word }) => wordAt(log, slot).toLowerCase().endsWith(word));
}

/** `0x` and 64 hex digits; for a topic, whatever the node sent. */
function wordAt(log: EventLog, slot: AmountSlot): string {
  if (slot.in === 'constant') return `0x${slot.word}`;
  if (slot.in === 'topic') {
    const topic = log.topics[slot.index];
    return typeof topic === 'string' ? topic : '';
  }
  // Most events have one word of data, which needs no cut.
  if (slot.word === 0 && log.data.length === 66) return log.data;
  return `0x${log.data.slice(2 + slot.word * 64, 66 + slot.word * 64)}`;
}
