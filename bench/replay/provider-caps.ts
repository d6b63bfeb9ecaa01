/** The errors with which real providers refuse eth_getLogs for its size. */
import { type CapStyle } from './provider-behaviour.js';
import { type LogRange } from './replay-logs.js';
import { ReplayFault } from './replay-fault.js';

const hex = (value: number): string => `0x${value.toString(16)}`;

/**
 * Sources of the texts: Alchemy, https://www.alchemy.com/docs/chains/ethereum/ethereum-api-endpoints/eth-get-logs;
 * QuickNode, https://www.quicknode.com/docs/ethereum/error-references; the plain text is Ankr's.
 */
export function rangeCapFault(
  style: CapStyle,
  blocks: number,
  { from, to }: LogRange,
): ReplayFault {
  const last = Math.min(to, from + blocks - 1);
  const count = blocks.toLocaleString('en-US');
  switch (style) {
    case 'alchemy':
      return new ReplayFault(
        -32600,
        `Under the Free tier plan, you can make eth_getLogs requests with up to a ${blocks} block range. Based on your parameters, this block range should work: [${hex(from)}, ${hex(last)}]. Upgrade to PAYG for expanded block range.`,
      );
    case 'quicknode':
      return new ReplayFault(-32614, `eth_getLogs is limited to a ${count} range`);
    case 'plain':
      return new ReplayFault(-32000, 'block range is too wide');
  }
}

/**
 * @param until the last block up to which the answer is within the cap. The proposed range ends there, or at `from`
 * where `until` lies before `from`.
 */
export function resultCapFault(logs: number, from: number, until: number): ReplayFault {
  const cap = `${Math.floor(logs / 1000)}K`;
  return new ReplayFault(
    -32602,
    `Log response size exceeded. You can make eth_getLogs requests with up to a 2K block range and no limit on the response size, or you can request any block range with a cap of ${cap} logs in the response. Based on your parameters and the response size limit, this block range should work: [${hex(from)}, ${hex(Math.max(from, until))}]`,
  );
}
