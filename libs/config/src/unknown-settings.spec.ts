import { describe, expect, it } from '@jest/globals';
import { unknownSettings } from './index.js';

describe('unknownSettings', () => {
  it('names a misspelled setting with the one that was meant', () => {
    const source = { DATABSE_URL: 'hunter2', REDEMPTION_PROT: '1', RPC_URL: 'http://hunter2' };
    expect(unknownSettings(source)).toEqual([
      'DATABSE_URL is not a setting. Did you mean DATABASE_URL?',
      'REDEMPTION_PROT is not a setting. Did you mean REDEMPTION_PORT?',
      'RPC_URL is not a setting. Did you mean RPC_URLS?',
    ]);
  });

  it('names what begins as a setting of ours and is near to none', () => {
    expect(unknownSettings({ API_POOL_SIZ: '8', STAKE_CONTRACT_FILE: '/run/x' })).toEqual([
      'API_POOL_SIZ is not a setting, and has no effect.',
      'STAKE_CONTRACT_FILE is not a setting, and has no effect.',
    ]);
  });

  it('knows the settings of all programs, their files, and those of compose', () => {
    const source = {
      ...{ API_PORT: '1', VAULT_CONTRACT: '1', PARTNER_PORT: '1', OIDC_ROLES: '1' },
      ...{ DATABASE_URL_FILE: '1', SECRETS_KEY_FILE: '1', CONSOLE_TEST_WALLET_RPC_URL: '1' },
      ...{ API_REPLICAS: '2', PUBLISH_ADDRESS: '0.0.0.0', LOWMARK_TEST_CONSTANTS: '{}' },
    };
    expect(unknownSettings(source)).toEqual([]);
  });

  it('takes no notice of what is for other software, or empty', () => {
    const source = {
      ...{ PATH: '/bin', HOME: '/', HOST: 'here', HOSTNAME: 'here', LOGNAME: 'me', PORT: '80' },
      ...{ NODE_OPTIONS: '1', NODE_EXTRA_CA_CERTS: '1', OTEL_SERVICE_NAME: 'api', TZ: 'UTC' },
      ...{ VAULT_ADDR: '1', VAULT_TOKEN: '1', API_KEY: '1', API_TOKEN: '1', HTTPS_PROXY: '1' },
      ...{ KUBERNETES_SERVICE_HOST: '1', PGPASSWORD: '1', REGISTRY_AUTH: '1', CI: 'true' },
      API_POOL_SIZ: '',
    };
    expect(unknownSettings(source)).toEqual([]);
  });

  it('takes a name near to one that is set for another program’s', () => {
    const source = { RPC_URL: 'http://x', RPC_URLS: 'http://y', SECRET_KEY: '1', SECRETS_KEY: '1' };
    expect(unknownSettings(source)).toEqual([]);
  });
});
