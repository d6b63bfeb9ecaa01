/** Code shared by the deployment scripts: arguments, files and error messages. */
import { readFileSync, statSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { parseAddress } from '#libs/domain';

class Refusal extends Error {}

/** Three days, which is longer than a weekend. */
const ADMIN_DELAY_SECONDS = 259_200;
const YEAR_SECONDS = 31_536_000;

/** Parsers of the settings' values. Each returns undefined for an invalid value. */
export const READ = {
  address: (value) => parseAddress(String(value)),
  number: (value) => (Number.isSafeInteger(value) && value > 0 ? value : undefined),
  url: (value) => (/^https?:/.test(value) && URL.canParse(value) ? value : undefined),
  digits: (value) =>
    typeof value === 'string' && /^\d{1,77}$/.test(value) ? BigInt(value) : undefined,
  adminDelay: (value = ADMIN_DELAY_SECONDS) =>
    READ.number(value) <= YEAR_SECONDS ? value : undefined,
};

/** Reads the settings that every deployment has. */
export function takePlace(take) {
  return {
    rpcUrl: take('rpcUrl', 'an http or https URL', READ.url),
    chainId: take('chainId', 'a number', READ.number),
    admin: take('admin', 'an address', READ.address),
    adminDelaySeconds: take(
      'adminDelaySeconds',
      'a number of seconds, a year at most',
      READ.adminDelay,
    ),
  };
}

/**
 * Reads both files, deploys and prints the result. An error is printed as one sentence, with exit code 1.
 * @param script file name of the script
 * @param read makes the deployment from the settings; it calls `take` and adds to `faults`
 * @param deploy sends the deployment
 */
export async function runDeployment(script, read, deploy) {
  try {
    const { settings, 'key-file': keyFile } = files(script);
    const deployed = await deploy(readDeployment(settings, read), readKey(keyFile));
    const shown = { ...deployed, blockNumber: Number(deployed.blockNumber) };
    console.log(JSON.stringify(shown, null, 2));
  } catch (error) {
    if (!(error instanceof Refusal) && error.code === undefined) throw error;
    console.error(error.message);
    process.exitCode = 1;
  }
}

function files(script) {
  try {
    const options = { settings: { type: 'string' }, 'key-file': { type: 'string' } };
    const { values } = parseArgs({ options });
    if (values.settings && values['key-file']) return values;
  } catch (error) {
    if (!String(error.code).startsWith('ERR_PARSE_ARGS')) throw error;
  }
  throw new Refusal(`usage: node contracts/${script} --settings FILE --key-file FILE`);
}

function readKey(file) {
  if (process.platform !== 'win32' && (statSync(file).mode & 0o077) !== 0) {
    throw new Refusal(`${file} can be read by others: chmod 600 ${file}`);
  }
  return readFileSync(file, 'utf8');
}

/** @throws Refusal that lists all invalid settings at once */
function readDeployment(file, read) {
  const given = parse(readFileSync(file, 'utf8'), file);
  const faults = [];
  const take = (name, expected, parser) => {
    const value = parser(given[name]);
    if (value === undefined) faults.push(`${name}: expected ${expected}`);
    return value;
  };
  const deployment = read(take, faults);
  if (faults.length > 0) throw new Refusal(`${file}:\n${faults.join('\n')}`);
  return deployment;
}

function parse(text, file) {
  try {
    return Object(JSON.parse(text));
  } catch {
    // The cause is left out, since its message would quote the file.
    throw new Refusal(`${file} is not JSON`);
  }
}
