import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { addressPolicy, addressRefusal } from './wire/dial.js';

const PRODUCTION = { allowPrivate: false };
const DEVELOPMENT = { allowPrivate: true };

const BLOCKED_ALWAYS = [
  ['this network', '0.0.0.0'],
  ['this network', '0.1.2.3'],
  ['link-local, metadata', '169.254.169.254'],
  ['link-local, container credentials', '169.254.170.2'],
  ['shared address space', '100.64.0.1'],
  ['shared address space, metadata', '100.100.100.200'],
  ['protocol assignments, metadata', '192.0.0.192'],
  ['documentation', '192.0.2.1'],
  ['documentation', '198.51.100.7'],
  ['documentation', '203.0.113.7'],
  ['benchmarking', '198.18.0.1'],
  ['6to4 relay', '192.88.99.1'],
  ['multicast', '224.0.0.1'],
  ['multicast', '239.255.255.250'],
  ['reserved', '240.0.0.1'],
  ['broadcast', '255.255.255.255'],
  ['platform services', '168.63.129.16'],
  ['unspecified', '::'],
  ['link-local', 'fe80::1'],
  ['link-local with a zone', 'fe80::1%eth0'],
  ['site-local', 'fec0::1'],
  ['multicast', 'ff02::1'],
  ['mapped', '::ffff:127.0.0.1'],
  ['mapped, of a public address', '::ffff:8.8.8.8'],
  ['mapped, in hexadecimal', '::ffff:7f00:1'],
  ['translated', '::ffff:0:127.0.0.1'],
  ['compatible', '::127.0.0.1'],
  ['compatible', '::7f00:1'],
  ['NAT64', '64:ff9b::7f00:1'],
  ['NAT64, local', '64:ff9b:1::a00:1'],
  ['6to4', '2002:7f00:1::'],
  ['Teredo', '2001:0:7f00:1::'],
  ['discard', '100::1'],
  ['documentation', '2001:db8::1'],
  ['documentation', '3fff::1'],
  ['ORCHID', '2001:20::1'],
  ['segment routing', '5f00::1'],
  ['not yet given out', '4000::1'],
  ['no address', ''],
  ['no address', 'localhost'],
  ['another notation', '2130706433'],
  ['another notation', '0x7f.0.0.1'],
  ['another notation', '0177.0.0.1'],
  ['another notation', '127.1'],
  ['in brackets', '[::1]'],
] as const;

const BLOCKED_IN_PRODUCTION = [
  '127.0.0.1',
  '127.255.255.254',
  '10.0.0.1',
  '172.16.0.1',
  '172.31.255.255',
  '192.168.1.1',
  '::1',
  'fc00::1',
  'fd00:ec2::254',
];

const PUBLIC = ['8.8.8.8', '93.184.216.34', '172.32.0.1', '100.128.0.1', '2606:4700::1111'];

describe('addressRefusal', () => {
  it.each(BLOCKED_ALWAYS)('refuses %s %p, in development too', (_, address) => {
    expect(addressRefusal(address, PRODUCTION)).toEqual(expect.any(String));
    expect(addressRefusal(address, DEVELOPMENT)).toEqual(expect.any(String));
  });

  it.each(BLOCKED_IN_PRODUCTION)('refuses %s unless in development', (address) => {
    expect(addressRefusal(address, PRODUCTION)).toEqual(expect.any(String));
    expect(addressRefusal(address, DEVELOPMENT)).toBeUndefined();
  });

  it.each(PUBLIC)('takes %s', (address) => {
    expect(addressRefusal(address, PRODUCTION)).toBeUndefined();
    expect(addressRefusal(address, DEVELOPMENT)).toBeUndefined();
  });

  it('never fails, and refuses every embedding of any IPv4 address', () => {
    fc.assert(
      fc.property(fc.ipV4(), (ip) => {
        for (const prefix of ['::', '::ffff:', '64:ff9b::', '::ffff:0:']) {
          expect(addressRefusal(prefix + ip, DEVELOPMENT)).toBeDefined();
        }
      }),
    );
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.ipV6(), fc.ipV4Extended()), (text) => {
        expect(['string', 'undefined']).toContain(typeof addressRefusal(text, PRODUCTION));
      }),
    );
  });
});

describe('addressPolicy', () => {
  it('refuses the development switch in production', () => {
    expect(() => addressPolicy({ allowPrivate: true, isProduction: true })).toThrow(
      expect.objectContaining({ code: 'PRIVATE_PARTNERS_REFUSED', retryable: false }),
    );
    expect(addressPolicy({ allowPrivate: false, isProduction: true })).toEqual(PRODUCTION);
    expect(addressPolicy({ allowPrivate: true, isProduction: false })).toEqual(DEVELOPMENT);
  });
});
