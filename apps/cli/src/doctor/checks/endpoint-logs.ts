import { RpcError } from '#libs/chain';
import { type Address } from '#libs/domain';
import { fault, type Finding, notChecked, ok, warning } from '../finding.js';
import { type Patient } from '../patient.js';
import { askEndpoint, reasonOf, toHex, toldBy } from '../rpc-question.js';
import { type SeenBlock } from '../seen-block.js';

/** From what is usual down to what no endpoint refuses. */
const RANGES = [10_000, 5000, 2000, 1000, 500, 100, 10, 1] as const;
/** Below it the first sync of a grown chain takes days. */
const SMALL = 100;

/** How many blocks of logs the endpoint gives at once, and whether it has those of the first block. */
export async function* logFindings(patient: Patient, latest: SeenBlock): AsyncGenerator<Finding> {
  const what = `${patient.name}: logs`;
  const { contracts, startBlock } = await patient.subject.staking();
  const { vaultContract } = patient.subject.settings;
  const addresses = contracts.length > 0 ? contracts : vaultContract ? [vaultContract] : [];
  if (addresses.length === 0) {
    yield notChecked(what, 'STAKE_CONTRACT is not set, and there is no index');
    return;
  }
  const { range, finding } = await rangeFinding({ ...patient, addresses }, what, latest);
  yield finding;
  if (range === undefined || startBlock === undefined || startBlock > latest.number) return;
  yield await historyFinding({ ...patient, addresses }, startBlock, BigInt(range));
}

interface LogPatient extends Patient {
  readonly addresses: readonly Address[];
}

async function rangeFinding(
  patient: LogPatient,
  what: string,
  { number: head }: SeenBlock,
): Promise<{ range: number | undefined; finding: Finding }> {
  let why = '';
  for (const range of RANGES) {
    const from = head >= BigInt(range) ? head - BigInt(range) + 1n : 0n;
    const refused = await refusal(patient, from, head);
    if (refused === undefined) return { range, finding: sizeFinding(patient, what, range) };
    why = refused;
  }
  const mend = 'It cannot be indexed from: use an endpoint that serves eth_getLogs.';
  return { range: undefined, finding: fault(what, `not even of one block: ${why}`, mend) };
}

function sizeFinding({ subject }: Patient, what: string, range: number): Finding {
  const found = `of ${range}${range === RANGES[0] ? ' or more' : ''} blocks at once`;
  if (range < SMALL && range < subject.settings.maxRangeBlocks) {
    return warning(
      what,
      found,
      'The first sync will be slow: use an endpoint with larger ranges for it.',
    );
  }
  return ok(what, found);
}

async function historyFinding(patient: LogPatient, from: bigint, range: bigint): Promise<Finding> {
  const what = `${patient.name}: old logs`;
  const refused = await refusal(patient, from, from + range - 1n);
  return refused === undefined
    ? ok(what, `from block ${from} on`)
    : warning(
        what,
        `not those of block ${from}: ${refused}`,
        'Enough to follow the chain; the first sync and a reindexing need an endpoint that has them.',
      );
}

/** Why the logs are not given; undefined where they are. */
async function refusal(
  { pool, endpoint, addresses }: LogPatient,
  from: bigint,
  to: bigint,
): Promise<string | undefined> {
  const filter = { address: addresses, fromBlock: toHex(from), toBlock: toHex(to) };
  try {
    const [result] = await askEndpoint(pool, endpoint, {
      method: 'eth_getLogs',
      params: [filter],
    });
    const { value, error } = toldBy(result);
    if (error !== undefined) return reasonOf(error);
    return Array.isArray(value) ? undefined : 'answers with something else than a list';
  } catch (error) {
    if (error instanceof RpcError) return reasonOf(error);
    throw error;
  }
}
