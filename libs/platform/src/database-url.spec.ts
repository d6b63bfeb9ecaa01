import { describe, expect, it } from '@jest/globals';
import { DatabaseUrl } from './database-url.js';

describe('DatabaseUrl', () => {
  it('reads a URL as it stands', () => {
    const url = DatabaseUrl.parse('postgresql://lowmark:p%40ss@db:5432/lowmark?sslmode=disable');
    expect(url).toMatchObject({ place: 'db:5432/lowmark', server: 'db:5432' });
    expect(url).toMatchObject({ user: 'lowmark', password: 'p@ss', database: 'lowmark' });
    expect(url.href).toBe('postgresql://lowmark:p%40ss@db:5432/lowmark?sslmode=disable');
    expect(DatabaseUrl.parse('postgres://u:p@DB.example/x').server).toBe('db.example:5432');
  });

  it.each([
    ['pa%ss', 'pa%ss'],
    ['pa%2541', 'pa%41'],
  ])('takes a password with a percent sign as the driver does: %s', (written, password) => {
    const url = DatabaseUrl.parse(`postgres://u:${written}@db/x`);
    expect([url.password, url.as({ user: 'u', password: url.password }).password]).toEqual([
      password,
      password,
    ]);
  });

  it('names another user and another database at the same server', () => {
    const url = DatabaseUrl.parse('postgres://u:p@[::1]:1/db');
    expect(url.as({ user: 'api', password: 'a/b' }).href).toBe('postgres://api:a%2Fb@[::1]:1/db');
    const other = url.as({ user: 'game', password: 'g', database: 'game' });
    expect(other.href).toBe('postgres://game:g@[::1]:1/game');
  });

  it('takes a local socket, and the user for the name of a database that is not named', () => {
    const socket = DatabaseUrl.parse('postgresql:///lowmark?host=/var/run/postgresql');
    expect(socket.place).toBe('a local socket/lowmark');
    expect(DatabaseUrl.parse('postgres://u:p@h1').database).toBe('u');
  });

  it.each([
    ['mysql://u:hunter2@h/db', /^must be a URL that starts with postgresql:\/\//],
    ['postgres://u:hunter2@h1:54x2/db', /its host is not a name or an address/],
    ['postgres://u:hunter2@h1:70000/db', /its host is not/],
    ['postgres://u:hunter2%e9@h1/db', /% is written as %25/],
    ['postgres://u:hunter2@h1:5432,h2:5432/db', /^must name one host.* two HAProxies/],
    ['postgres://u:hunter2@h1,,h3/db', /^must name one host/],
    ['postgres://u:hunter2@h1/db?host=h1,h2', /^must name one host/],
    ['postgres://u:hunter2@h1/db?port=1,2', /^must name one host/],
  ])('refuses %s', (text, message) => {
    expect(() => DatabaseUrl.parse(text)).toThrow(message);
    expect(() => DatabaseUrl.parse(text)).not.toThrow('hunter2');
  });
});
