import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { lookAlikeKey } from './look-alike.js';
import { parseName, withoutInvisible } from './name.js';

describe('parseName', () => {
  it.each([
    'Acme',
    'Acme Games & Co. (EU)',
    'A',
    '3D Studio 2',
    '<img src=x onerror=alert(1)> 🎮',
    "Robert'); --",
    'Société Générale',
    'Ærøskøbing',
    'Phượng Hoàng',
    'Αθήνα',
    'Студия №'.replace('№', '5'),
    'לוח',
    'شركة',
    'कंपनी',
    'ゲーム株式会社 Nova',
    '게임 Nova',
    '遊戲 Nova',
    'บริษัท',
    'cafe',
    'Beef',
  ])('takes %j', (text) => {
    expect(parseName(text)).toEqual({ name: text });
  });

  it('takes the blanks around a name away, and writes one letter for a letter and its mark', () => {
    expect(parseName(' Acme ')).toEqual({ name: 'Acme' });
    expect(parseName('Cafe\u0301 Noir')).toEqual({ name: 'Caf\u00e9 Noir' });
  });

  it.each([
    ['must be 1 to 100 characters long', ['', '   ', 'a'.repeat(101)]],
    [
      'invisible',
      [
        'a\u202eb',
        'a\nb',
        'a\0b',
        'a\ud800',
        'a\u200bb',
        'a\u00adb',
        'a\ufe0f',
        'a\u3164b',
        'a\u2028b',
      ],
    ],
    ['invisible', ['a\ue000', 'a\u{e0041}', 'a\u{10ffff}', 'a\u034fb', 'a\u115f']],
    ['compatibility', ['Ａcme', 'ﬁsh', 'Acme™', 'a\u00a0b', '𝐀cme', 'ｱｸﾒ']],
    ['two spaces', ['a  b', 'a\u1680b']],
    ['a dash', ['-a', '--help', '\u2013a', '\u2212a', '\u2014a']],
    ['combining mark', ['\u0301a', `x${'\u0323\u0301\u0302'.repeat(4)}`]],
    ['one letter', ['12345', '🎲', '…'.replace('…', '!?'), '-'.replace('-', '#1')]],
    [
      'one script',
      ['Аcme', 'Acmе', 'Αcme', 'לוח Acme', 'Ꮯꭺꮯ', 'ＡБ'.normalize('NFKC'), '⠀a', 'ガメБ'],
    ],
    [
      'an id',
      [
        '3e6f0a12-7c1d-4b5e-9f00-0123456789ab',
        '3E6F0A12-7C1D-4B5E-9F00-0123456789AB',
        '3е6ае012-7с1а-4а5е-9а00-0123456789ас',
        '3e6f0a12',
        '0xCafe',
        '0x52908400098527886E0F7030069857D2E4169EE7',
        'svck_abc',
        'operator:ann',
      ],
    ],
    ['a word of JavaScript', ['__proto__', 'constructor', 'hasOwnProperty', 'toString', 'null']],
  ])('refuses what %s', (why, texts) => {
    for (const text of texts) {
      expect([text, parseName(text)]).toEqual([text, { fault: expect.stringContaining(why) }]);
    }
  });

  it('says something of every text, and takes what it has taken again', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const { name } = parseName(text);
        if (name !== undefined) expect(parseName(name)).toEqual({ name });
      }),
    );
  });
});

describe('lookAlikeKey', () => {
  it.each([
    ['Acme', 'ACME'],
    ['PayPal', 'PayPaI'],
    ['paypal', 'paypa1'],
    ['apple', 'аррӏе'],
    ['scope', 'ѕсоре'],
    ['BATE', 'ВАТЕ'],
    ['BETA', 'ΒΕΤΑ'],
    ['Milk', 'rnilk'],
    ['Zero', 'Zer0'],
    ['Ogre', '0gre'],
    ['ロボ', '口ボ'],
    ['Café', 'Cafe\u0301'],
    ["D'Arcy", 'D’Arcy'],
  ])('is the same for %j and %j', (one, other) => {
    expect(lookAlikeKey(other)).toBe(lookAlikeKey(one));
  });

  it.each([
    ['Acme', 'Acme 2'],
    ['Café', 'Cafe'],
    ['Game 1', 'Game 2'],
    ['Nova', 'Nоvа Two'],
    ['Студия', 'Студио'],
  ])('is another for %j and %j', (one, other) => {
    expect(lookAlikeKey(other)).not.toBe(lookAlikeKey(one));
  });
});

it('takes away what is not seen', () => {
  expect(withoutInvisible('A\u202enn\u200b B\0ob\u2028')).toBe('Ann Bob');
});
