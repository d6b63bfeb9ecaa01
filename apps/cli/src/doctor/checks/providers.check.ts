import { providerOf } from '#libs/chain';
import { type Check } from '../check.js';
import { ok, warning } from '../finding.js';

const NAME = 'rpc providers';

/** Whether what became of a payout has two witnesses: one endpoint alone can deny a claim, and then points and tokens both go. */
export const providersCheck: Check = {
  name: NAME,
  needs: ['RPC_URLS', 'VAULT_CONTRACT'],
  *look({ pool }) {
    const providers = [...new Set(pool.endpoints.map(providerOf))];
    const list = providers.join(', ');
    yield providers.length > 1
      ? ok(NAME, `${providers.length}: ${list}`)
      : warning(
          NAME,
          `only ${list}: what it says of a voucher has no second witness, so it can bring points back beside a claim`,
          'Before real money is redeemed, name a second endpoint of another provider in RPC_URLS.',
        );
  },
};
