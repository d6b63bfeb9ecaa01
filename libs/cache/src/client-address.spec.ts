import { describe, expect, it } from '@jest/globals';
import { addressKey, siteKey } from './rate-limiter.js';

describe('the keys of', () => {
  it.each([
    ['203.0.113.7', '203.0.113.7', undefined],
    ['::ffff:203.0.113.7', '203.0.113.7', undefined],
    ['::FFFF:203.0.113.7', '203.0.113.7', undefined],
    ['::ffff:cb00:7107', '203.0.113.7', undefined],
    ['0:0:0:0:0:ffff:cb00:7107', '203.0.113.7', undefined],
    ['::ffff:203.0.113.7%eth0', '203.0.113.7', undefined],
    ['203.0.113.7:51234', '203.0.113.7', undefined],
    ['[::ffff:203.0.113.7]:51234', '203.0.113.7', undefined],
    [' 203.0.113.7 ', '203.0.113.7', undefined],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64', '2001:db8:1::/48'],
    ['2001:DB8:1:2::9', '2001:db8:1:2::/64', '2001:db8:1::/48'],
    ['2001:db8:1:2::9%0', '2001:db8:1:2::/64', '2001:db8:1::/48'],
    ['[2001:db8:1:2::9]:51234', '2001:db8:1:2::/64', '2001:db8:1::/48'],
    ['[2001:db8:1:2::9]', '2001:db8:1:2::/64', '2001:db8:1::/48'],
    ['2001:0db8:0001:0002::', '2001:db8:1:2::/64', '2001:db8:1::/48'],
    ['2001:db8:1:ffff::1', '2001:db8:1:ffff::/64', '2001:db8:1::/48'],
    ['2001:db8::1', '2001:db8:0:0::/64', '2001:db8:0::/48'],
    ['::1', '0:0:0:0::/64', '0:0:0::/48'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64', 'fe80:0:0::/48'],
    ['64:ff9b::192.0.2.33', '64:ff9b:0:0::/64', '64:ff9b:0::/48'],
    [undefined, 'unknown', undefined],
    ['', 'unknown', undefined],
    ['Made Up', 'unknown', undefined],
    ['203.0.113', 'unknown', undefined],
    ['203.0.113.007', 'unknown', undefined],
    ['203.0.113.7:port', 'unknown', undefined],
    ['[203.0.113.7', 'unknown', undefined],
    ['2001:db8::1::2', 'unknown', undefined],
    ['x'.repeat(10_000), 'unknown', undefined],
    [`fe80::1%${'x'.repeat(10_000)}`, 'unknown', undefined],
  ])('%p are %s and %s', (address, key, site) => {
    expect([addressKey(address), siteKey(address)]).toEqual([key, site]);
  });
});
