/** The specs that show the bound of each compromise of docs/security.md, by the first column of its tables. */
export const SHOWN_BY: Readonly<Record<string, readonly string[]>> = {
  'one of two RPC endpoints lies about the final block': [
    'libs/chain/src/vault/lying-endpoints.int-spec.ts',
    'test/simulation/simulation.int-spec.ts',
  ],
  'the only endpoint lies about time, number or hash': [
    'libs/chain/src/vault/lying-endpoints.int-spec.ts',
    'apps/redemption/src/payout/voucher-payout.int-spec.ts',
    'apps/redemption/src/redemptions/redemptions.int-spec.ts',
  ],
  'the only endpoint denies claims, or makes them up; two endpoints collude': [
    'apps/redemption/test/bounds/stolen-credentials.int-spec.ts',
    'libs/db/src/redemption/redemption-limits.int-spec.ts',
  ],
  'one of two endpoints lies about a signature': [
    'libs/chain/src/siwe/wallet-signatures.int-spec.ts',
    'apps/redemption/src/auth/sign-in.int-spec.ts',
  ],
  'an endpoint lies about gas': [
    'apps/redemption/src/payout/cancel-requests.int-spec.ts',
    'libs/chain/src/vault/vault-account.int-spec.ts',
  ],
  'an endpoint lies about the registry': [
    'apps/redemption/src/registry-publishing/registry-publisher.int-spec.ts',
  ],
  'an endpoint hides a theft, or makes a claim up': [
    'apps/redemption/src/claim-watch/claim-watch.int-spec.ts',
  ],
  'one of two providers lies to the indexer': ['apps/indexer/test/liar.int-spec.ts'],
  'the only provider lies to the indexer': [
    'apps/indexer/test/wrong-stakes.int-spec.ts',
    'apps/indexer/test/liar.int-spec.ts',
  ],
  'the chain takes final blocks back': [
    'apps/redemption/src/worker/forged-rows.int-spec.ts',
    'apps/redemption/src/reconciliation/reconciler.int-spec.ts',
  ],
  'the clock of our machine': [
    'contracts/test/redemption-vault.int-spec.ts',
    'apps/redemption/src/payout/voucher-payout.int-spec.ts',
  ],
  'one of three sources': ['test/redemption/wrong-price.soak-spec.ts'],
  'one of two sources': ['test/redemption/wrong-price.soak-spec.ts'],
  'the only source, or two that collude: a jump': [
    'test/redemption/wrong-price.soak-spec.ts',
    'apps/indexer/test/on-database.int-spec.ts',
  ],
  'the same, in small steps': [
    'libs/price/src/price-limits.spec.ts',
    'apps/indexer/test/on-database.int-spec.ts',
  ],
  'a source that stands still': [
    'test/redemption/wrong-price.soak-spec.ts',
    'libs/price/src/price-reader.spec.ts',
  ],
  'a partner, or its callback secret': [
    'libs/db/src/redemption/redemption-limits.int-spec.ts',
    'apps/redemption/src/redemptions/creation.int-spec.ts',
  ],
  "a partner's credential (`svck_…`, `svcs_…`)": [
    'apps/api/src/http/limits.int-spec.ts',
    'apps/api/src/requests/request-log.int-spec.ts',
    'apps/api/src/days/export/slow-clients.soak-spec.ts',
  ],
  "a webhook's secret, or a subscriber who means harm": [
    'libs/partner-client/src/webhook-sender.int-spec.ts',
    'apps/redemption/src/webhooks/webhook.queue.int-spec.ts',
  ],
  'the way to a partner: DNS, a proxy, a certificate': [
    'libs/partner-client/src/verify-answer.spec.ts',
    'libs/partner-client/src/answers.int-spec.ts',
    'test/simulation/simulation.int-spec.ts',
    'libs/domain/src/redemption/answer-table.spec.ts',
    'libs/partner-client/src/nothing-sent.int-spec.ts',
    'libs/partner-client/src/address-policy.spec.ts',
  ],
  'the way from a partner to the api: a proxy, DNS': [
    'libs/partner-sdk/src/staking/staking-client.int-spec.ts',
    'libs/partner-sdk/src/staking/days.int-spec.ts',
    'test/partner-docs/page-code.e2e-spec.ts',
  ],
  "a player's wallet": [
    'libs/db/src/redemption/redemption-limits.int-spec.ts',
    'apps/redemption/src/redemptions/creation.int-spec.ts',
  ],
  "a player's session": [
    'apps/redemption/src/auth/sign-in.int-spec.ts',
    'contracts/test/redemption-vault.int-spec.ts',
  ],
  "an operator's session": [
    'apps/console/src/auth/sign-in.int-spec.ts',
    'apps/console/src/approvals/approvals.int-spec.ts',
    'apps/console/src/auth/oidc.int-spec.ts',
    'apps/console/src/auth/routes.int-spec.ts',
    'test/console/second-operator.int-spec.ts',
  ],
  'a signature of no key, for an address without a holder': [
    'apps/redemption/src/auth/sign-in.int-spec.ts',
    'apps/console/src/auth/sign-in.int-spec.ts',
    'libs/chain/src/siwe/wallet-signatures.int-spec.ts',
    'apps/redemption/src/payout/voucher-payout.int-spec.ts',
  ],
  'a name that an operator could take for another': [
    'libs/names/src/names.spec.ts',
    'apps/cli/src/partner.int-spec.ts',
    'test/console/partners.int-spec.ts',
  ],
  "a partner's session at the console": [
    'apps/console/src/auth/partners.int-spec.ts',
    'libs/operations/src/audit/audited.int-spec.ts',
    'test/console/partner-api.int-spec.ts',
    'test/console/conformance-killed.soak-spec.ts',
    'libs/partner-sdk/src/conformance/conformance.int-spec.ts',
    'test/console/partner-calls.int-spec.ts',
  ],
  "a partner's member who keeps the console busy": [
    'libs/partner-sdk/src/signing/explain-signature.spec.ts',
    'test/console/partner-api.int-spec.ts',
    'apps/console/src/auth/partners.int-spec.ts',
  ],
  'a sign-in link, an invitation': [
    'apps/console/src/auth/sign-in.int-spec.ts',
    'apps/console/src/auth/partners.int-spec.ts',
  ],
  'another site, open in the browser of someone who is signed in': [
    'apps/console/src/http/csrf.guard.spec.ts',
    'apps/console/src/auth/sign-in.int-spec.ts',
  ],
  'one operator, who means harm': [
    'apps/console/src/approvals/approvals.int-spec.ts',
    'libs/db/src/console/console-stores.int-spec.ts',
    'test/console/redemptions.int-spec.ts',
    'test/console/partners.int-spec.ts',
  ],
  'the issuer of `OIDC_ISSUER`': ['apps/console/src/auth/oidc.int-spec.ts'],
  'an answer of the issuer, on its way through a browser': [
    'apps/console/src/auth/oidc.int-spec.ts',
  ],
  'the way to the issuer: DNS, a proxy, a certificate': ['apps/console/src/auth/oidc.int-spec.ts'],
  'vouchers that are let expire: an option for nothing': [
    'apps/redemption/src/redemptions/creation.int-spec.ts',
    'libs/db/src/redemption/redemption-limits.int-spec.ts',
  ],
  'any number of wallets without points': [
    'apps/redemption/src/redemptions/creation.int-spec.ts',
    'libs/db/src/redemption/redemption-limits.int-spec.ts',
  ],
  'any number of callers without a key': [
    'apps/api/src/http/limits.int-spec.ts',
    'apps/redemption/src/http/http.int-spec.ts',
    'test/compose/proxy/proxy.haproxy.soak-spec.ts',
    'apps/redemption/src/http/shared-limits.redis.int-spec.ts',
  ],
  'people who share an address with one who guesses sessions': [
    'apps/console/src/auth/sign-in.int-spec.ts',
    'apps/redemption/src/http/http.int-spec.ts',
  ],
  "the api's": [
    'libs/db/src/roles/program-rights.int-spec.ts',
    'libs/db/src/roles/login-roles.int-spec.ts',
    'libs/db/src/portal/portal-database.int-spec.ts',
  ],
  "the indexer's": [
    'test/redemption/wrong-price.soak-spec.ts',
    'libs/db/src/roles/program-rights.int-spec.ts',
    'apps/indexer/test/wrong-stakes.int-spec.ts',
  ],
  "the redemption service's": [
    'apps/redemption/src/worker/forged-rows.int-spec.ts',
    'contracts/test/redemption-vault-limits.int-spec.ts',
    'apps/redemption/test/bounds/stolen-credentials.int-spec.ts',
    'apps/redemption/src/claim-watch/claim-watch.int-spec.ts',
    'test/simulation/simulation.int-spec.ts',
  ],
  "the commands'": [
    'apps/redemption/test/bounds/stolen-credentials.int-spec.ts',
    'apps/redemption/src/worker/forged-rows.int-spec.ts',
    'apps/redemption/src/claim-watch/claim-watch.int-spec.ts',
    'libs/db/src/roles/program-rights.int-spec.ts',
  ],
  "the console's": [
    'libs/db/src/roles/program-rights.int-spec.ts',
    'libs/db/src/console/console-stores.int-spec.ts',
    'libs/db/src/console/sign-in.int-spec.ts',
    'apps/redemption/test/bounds/stolen-credentials.int-spec.ts',
  ],
  "the portal's": [
    'libs/db/src/roles/login-roles.int-spec.ts',
    'libs/db/src/roles/program-rights.int-spec.ts',
    'libs/db/src/portal/portal-database.int-spec.ts',
  ],
  "the owner's, a superuser, the server": [
    'apps/redemption/src/worker/forged-rows.int-spec.ts',
    'apps/redemption/test/bounds/stolen-credentials.int-spec.ts',
    'apps/redemption/src/worker/forged-rows.int-spec.ts',
    'libs/db/src/roles/login-roles.int-spec.ts',
  ],
  '`EVIDENCE_KEY`': [
    'apps/redemption/src/worker/forged-rows.int-spec.ts',
    'contracts/test/redemption-vault-limits.int-spec.ts',
  ],
  '`SECRETS_KEY`': [
    'apps/redemption/test/bounds/stolen-credentials.int-spec.ts',
    'libs/signing/src/signing.spec.ts',
    'libs/db/src/redemption/redemption-limits.int-spec.ts',
    'apps/partner/src/points/game.int-spec.ts',
  ],
  'a grant, on its way from the console to the api (`svcg_…`)': [
    'libs/signing/src/grant.spec.ts',
    'test/console/partner-api.int-spec.ts',
  ],
  '`VOUCHER_SIGNER_KEY`': [
    'contracts/test/redemption-vault-limits.int-spec.ts',
    'contracts/test/redemption-vault.int-spec.ts',
    'apps/redemption/src/claim-watch/claim-watch.int-spec.ts',
  ],
  '`VAULT_CANCELLER_KEY`': [
    'apps/redemption/src/worker/engine.int-spec.ts',
    'contracts/test/redemption-vault.int-spec.ts',
    'apps/redemption/src/payout/cancel-requests.int-spec.ts',
  ],
  '`VAULT_PAUSER_KEY`': [
    'contracts/test/redemption-vault.int-spec.ts',
    'contracts/test/redemption-vault-limits.int-spec.ts',
  ],
  '`REGISTRY_PRIVATE_KEY`': [
    'apps/redemption/src/registry-publishing/registry-publisher.int-spec.ts',
  ],
  "the administrator's, that is the Safe's threshold": [
    'contracts/test/redemption-vault-limits.int-spec.ts',
    'contracts/test/redemption-vault.int-spec.ts',
  ],
  'a key that is lost: the file of `secrets_key` or `evidence_key`': [
    'apps/stack/src/compose/secret-files.spec.ts',
    'apps/cli/src/redemption-show.int-spec.ts',
  ],
  Redis: [
    'apps/redemption/src/http/shared-limits.redis.int-spec.ts',
    'apps/api/src/snapshots/sharing.redis.int-spec.ts',
    'libs/cache/src/redis-rate-limiter.redis.int-spec.ts',
    'test/compose/compose-isolation.spec.ts',
  ],
  'the proxy in front': [
    'apps/redemption/src/http/http.int-spec.ts',
    'contracts/test/redemption-vault.int-spec.ts',
    'apps/api/src/http/signing.int-spec.ts',
  ],
  'another page that asks users to sign in': ['apps/redemption/src/auth/sign-in.int-spec.ts'],
  'the container of one service': [
    'contracts/test/redemption-vault-limits.int-spec.ts',
    'test/compose/compose-isolation.spec.ts',
    'test/compose/kubernetes.spec.ts',
    'test/compose/compose-file.spec.ts',
  ],
  "the operator's machine, the host, the cluster": [
    'contracts/test/redemption-vault-limits.int-spec.ts',
  ],
  'an npm package': [
    'test/dependencies.spec.ts',
    'contracts/test/redemption-vault-limits.int-spec.ts',
    'test/compose/compose-isolation.spec.ts',
  ],
  'an image': [
    'contracts/test/redemption-vault-limits.int-spec.ts',
    'test/compose/compose-isolation.spec.ts',
    'apps/redemption/test/bounds/stolen-credentials.int-spec.ts',
    'test/compose/compose-file.spec.ts',
  ],
  'the database goes back in time: a restore, a provider, a standby that was behind, an operator who forgets the note':
    [
      'apps/redemption/src/worker/restored-ledger.int-spec.ts',
      'libs/db/src/redemption/ledger-restore.int-spec.ts',
      'test/restarts/silent-restore.tools.soak-spec.ts',
    ],
  'logs, metrics, rows, command lines, call logs': [
    'test/redemption/secrets.e2e-spec.ts',
    'libs/chain/src/rpc/rpc-pool.int-spec.ts',
  ],
};
