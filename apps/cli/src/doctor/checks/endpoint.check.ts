import { endpointName, RpcError } from '#libs/chain';
import { type Check } from '../check.js';
import { type DoctorSettings } from '../doctor.settings.js';
import { fault, type Finding, ok } from '../finding.js';
import { type Patient } from '../patient.js';
import { askEndpoint, quantityOf, reasonOf, toldBy } from '../rpc-question.js';
import { archiveFinding } from './endpoint-archive.js';
import { headFindings } from './endpoint-heads.js';
import { logFindings } from './endpoint-logs.js';

const NAME = 'rpc';

/** A check for each endpoint of RPC_URLS by itself; one that says so where there is none. */
export function endpointChecks(settings: DoctorSettings): readonly Check[] {
  const count = settings.rpcUrls?.length ?? 0;
  if (count === 0) return [unset];
  return Array.from({ length: count }, (_, index) => endpointCheck(settings.rpcUrls ?? [], index));
}

const unset: Check = {
  name: NAME,
  needs: ['RPC_URLS'],
  async *look() {
    // Never made: what it needs is not there.
  },
};

function endpointCheck(urls: readonly string[], index: number): Check {
  const name = `${NAME} ${endpointName(new URL(urls[index] ?? ''), index + 1)}`;
  return {
    name,
    needs: ['RPC_URLS'],
    async *look(subject) {
      const { pool } = subject;
      const endpoint = pool.endpoints[index] ?? '';
      yield* examine({ subject, pool, endpoint, name });
    },
  };
}

async function* examine(patient: Patient): AsyncGenerator<Finding> {
  const chain = await chainFinding(patient);
  yield chain;
  if (chain.state !== 'ok') return;
  const { latest, findings } = await headFindings(patient);
  yield* findings;
  if (latest === undefined) return;
  yield* logFindings(patient, latest);
  yield await archiveFinding(patient, latest);
}

async function chainFinding({ subject, pool, endpoint, name }: Patient): Promise<Finding> {
  const expected = subject.settings.chainId ?? (await subject.index())?.chainId;
  const mend = 'Check its URL, its key and the way there, or take it out of RPC_URLS.';
  try {
    const [result] = await askEndpoint(pool, endpoint, { method: 'eth_chainId', params: [] });
    const { value, error } = toldBy(result);
    if (error !== undefined) return fault(name, reasonOf(error), mend);
    const chainId = quantityOf(value);
    if (chainId === undefined) return fault(name, 'does not tell its chain id', mend);
    if (expected !== undefined && chainId !== BigInt(expected)) {
      return fault(
        name,
        `serves chain ${chainId}, and CHAIN_ID is ${expected}`,
        'Take it out of RPC_URLS, or correct CHAIN_ID.',
      );
    }
    return ok(name, `answers; chain ${chainId}`);
  } catch (error) {
    if (error instanceof RpcError) return fault(name, reasonOf(error), mend);
    throw error;
  }
}
