import { describe, expect, it } from '@jest/globals';
import { DatabaseUrl } from './database-url.js';

describe('DatabaseUrl', () => {
  it('reads one host as it stands', () => {
    const url = DatabaseUrl.parse('postgresql://lowmark:p%40ss@db:5432/lowmark?sslmode=disable');
    expect(url).toMatchObject({ hosts: ['db:5432'], target: 'any', place: 'db:5432/lowmark' });
    expect(url).toMatchObject({ user: 'lowmark', password: 'p@ss', database: 'lowmark' });
    expect(url.href).toBe('postgresql://lowmark:p%40ss@db:5432/lowmark?sslmode=disable');
    expect(url.urls.map(String)).toEqual([url.href]);
  });

  it('reads several hosts, each with its port, and wants the one that takes writes', () => {
    const text = 'postgres://u:p@h1:5432,[::1]:5433,h3/db?sslmode=require';
    const url = DatabaseUrl.parse(text);
    expect(url).toMatchObject({ hosts: ['h1:5432', '[::1]:5433', 'h3'], target: 'read-write' });
    expect(url.place).toBe('h1:5432,[::1]:5433,h3/db');
    expect(url.urls.map(String)).toEqual([
      'postgres://u:p@h1:5432/db?sslmode=require',
      'postgres://u:p@[::1]:5433/db?sslmode=require',
      'postgres://u:p@h3/db?sslmode=require',
    ]);
    expect(url.href).toBe(text);
  });

  it('keeps the target that is asked for', () => {
    const url = DatabaseUrl.parse('postgres://u:p@h1,h2/db?target_session_attrs=any');
    expect(url).toMatchObject({ target: 'any', href: expect.stringMatching(/attrs=any$/) });
    expect(url.urls.map(String)).toEqual(['postgres://u:p@h1/db', 'postgres://u:p@h2/db']);
    const one = DatabaseUrl.parse('postgres://u:p@h1/db?target_session_attrs=read-write');
    expect(DatabaseUrl.parse(one.href).target).toBe('read-write');
  });

  it('names another user and another database at the same servers', () => {
    const url = DatabaseUrl.parse('postgres://u:p@h1:1,h2:2/db');
    expect(url.as({ user: 'api', password: 'a/b' }).href).toBe('postgres://api:a%2Fb@h1:1,h2:2/db');
    const other = url.as({ user: 'game', password: 'g', database: 'game' });
    expect(other.href).toBe('postgres://game:g@h1:1,h2:2/game');
  });

  it('takes a local socket, and the user for the name of a database that is not named', () => {
    const socket = DatabaseUrl.parse('postgresql:///lowmark?host=/var/run/postgresql');
    expect(socket.place).toBe('a local socket/lowmark');
    expect(DatabaseUrl.parse('postgres://u:p@h1').database).toBe('u');
  });

  it.each([
    ['mysql://u:hunter2@h/db', /^must be a URL that starts with postgresql:\/\//],
    ['postgres://u:hunter2@h1:5432,h2:54x2/db', /its host 2 is not a name or an address/],
    ['postgres://u:hunter2@h1,,h3/db', /its host 2 is not/],
    ['postgres://u:hunter2@h1:70000/db', /its host 1 is not/],
    ['postgres://u:hunter2@h1/db?host=h1,h2', /must name several hosts before the name/],
    ['postgres://u:hunter2@h1,h2/db?port=1', /and not by port=/],
    [
      'postgres://u:hunter2@h1,h2/db?target_session_attrs=writer',
      /target_session_attrs that is one of any, read-write/,
    ],
  ])('refuses %s', (text, message) => {
    expect(() => DatabaseUrl.parse(text)).toThrow(message);
    expect(() => DatabaseUrl.parse(text)).not.toThrow('hunter2');
  });
});
