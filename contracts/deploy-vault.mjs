/**
 * Deploys RedemptionVaultV2 to a real chain; see contracts/README.md. After `npm run build`:
 *
 *   node contracts/deploy-vault.mjs --settings vault.json --key-file deployer.key
 *
 * The key and the node's address come from files, because arguments are in the process list for everybody to read.
 */
import { readFileSync, statSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { deployVault } from '#libs/chain';
import { parseAddress } from '#libs/domain';

class Refusal extends Error {}

/** An hour: twice the default of VOUCHER_TTL_SECONDS. */
const MAX_TTL_SECONDS = 3_600;
/** Three days, which is longer than a weekend. */
const ADMIN_DELAY_SECONDS = 259_200;
const YEAR_SECONDS = 31_536_000;

function files() {
  try {
    const options = { settings: { type: 'string' }, 'key-file': { type: 'string' } };
    const { values } = parseArgs({ options });
    if (values.settings && values['key-file']) return values;
  } catch (error) {
    if (!String(error.code).startsWith('ERR_PARSE_ARGS')) throw error;
  }
  throw new Refusal('usage: node contracts/deploy-vault.mjs --settings FILE --key-file FILE');
}

function readKey(file) {
  if (process.platform !== 'win32' && (statSync(file).mode & 0o077) !== 0) {
    throw new Refusal(`${file} can be read by others: chmod 600 ${file}`);
  }
  return readFileSync(file, 'utf8');
}

function parse(text, file) {
  try {
    return Object(JSON.parse(text));
  } catch {
    // The reason would quote the file.
    throw new Refusal(`${file} is not JSON`);
  }
}

/** Every fault at once. */
function readDeployment(file) {
  const given = parse(readFileSync(file, 'utf8'), file);
  const faults = [];
  const take = (name, expected, read) => {
    const value = read(given[name]);
    if (value === undefined) faults.push(`${name}: expected ${expected}`);
    return value;
  };
  const address = (value) => parseAddress(String(value));
  const number = (value) => (Number.isSafeInteger(value) && value > 0 ? value : undefined);
  const url = (value) => (/^https?:/.test(value) && URL.canParse(value) ? value : undefined);
  const digits = (value) =>
    typeof value === 'string' && /^\d{1,77}$/.test(value) ? BigInt(value) : undefined;
  const windowSeconds = take('windowSeconds', 'a number of seconds', number);
  const maxTtlSeconds = take('maxTtlSeconds', 'a number of seconds', (value = MAX_TTL_SECONDS) =>
    number(value),
  );
  const deployment = {
    rpcUrl: take('rpcUrl', 'an http or https URL', url),
    chainId: take('chainId', 'a number', number),
    token: take('token', 'an address', address),
    admin: take('admin', 'an address', address),
    signer: take('signer', 'an address', address),
    canceller: take('canceller', 'an address', address),
    pauser: take('pauser', 'an address', address),
    windowSeconds: BigInt(windowSeconds ?? 0),
    windowCap: take('windowCap', 'an amount in the smallest unit, as text', digits),
    maxTtlSeconds: BigInt(maxTtlSeconds ?? 0),
    adminDelaySeconds: take(
      'adminDelaySeconds',
      'a number of seconds, a year at most',
      (value = ADMIN_DELAY_SECONDS) => (number(value) <= YEAR_SECONDS ? value : undefined),
    ),
  };
  if (deployment.pauser && deployment.pauser === deployment.signer) {
    faults.push(
      'pauser: must be another account than signer, whose stolen key is a reason to pause',
    );
  }
  if (faults.length > 0) throw new Refusal(`${file}:\n${faults.join('\n')}`);
  return deployment;
}

try {
  const { settings, 'key-file': keyFile } = files();
  const deployed = await deployVault(readDeployment(settings), readKey(keyFile));
  const shown = { ...deployed, blockNumber: Number(deployed.blockNumber) };
  console.log(JSON.stringify(shown, null, 2));
} catch (error) {
  if (!(error instanceof Refusal) && error.code === undefined) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
