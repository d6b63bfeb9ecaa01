import { expect, it } from '@jest/globals';
import { systemClock } from '#libs/platform';
import { makeChecks } from './checks.js';
import { readDoctorSettings } from './doctor.settings.js';
import { providersCheck } from './endpoint.checks.js';
import { Subject } from './subject.js';

const VAULT = { VAULT_CONTRACT: `0x${'1'.repeat(40)}` };
const [ONE, SAME, OTHER] = [
  'https://eth.one.example/v2/hunter2',
  'https://base.one.example/v2/hunter3',
  'https://two.example',
];

async function found(source: Readonly<Record<string, string>>) {
  const { settings } = readDoctorSettings(source);
  const options = { faulty: new Map(), timeoutMs: 2500, onWaiting: () => undefined };
  const [finding] = await makeChecks([providersCheck], new Subject(settings, systemClock), options);
  return finding;
}

it.each([
  ['one endpoint', ONE],
  ['endpoints of one provider', `${ONE},${SAME}`],
])('warns if points are redeemed on what %s says alone', async (_, urls) => {
  const finding = await found({ ...VAULT, RPC_URLS: urls });
  expect(finding).toMatchObject({
    what: 'rpc providers',
    state: 'warning',
    found: expect.stringContaining('one.example'),
    mend: expect.stringContaining('RPC_URLS'),
  });
  expect(JSON.stringify(finding)).not.toContain('hunter');
});

it('is content with two providers', async () => {
  const finding = await found({ ...VAULT, RPC_URLS: `${ONE},${SAME},${OTHER}` });
  expect(finding).toMatchObject({ state: 'ok', found: '2: one.example, two.example' });
});

it('has nothing to say where nothing is redeemed', async () => {
  expect(await found({ RPC_URLS: ONE })).toMatchObject({
    state: 'not-checked',
    found: 'VAULT_CONTRACT is not set',
  });
});
