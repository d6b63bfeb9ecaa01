/** Pieces of HTTP requests, sound and broken. Random requests are made of them; a kind comes as often as it weighs. */
export const HTTP_PIECES: readonly {
  readonly weight: number;
  readonly texts: readonly string[];
}[] = [
  {
    weight: 3,
    texts: ['GET', 'HEAD', 'POST', 'OPTIONS', 'CONNECT', 'PRI', 'get', 'TRACE', 'M-SEARCH'],
  },
  {
    weight: 3,
    texts: [
      ' / HTTP/1.1\r\n',
      ' /api/staking/snapshots?x=%zz HTTP/1.1\r\n',
      ' /api/redemptions?limit=%zz HTTP/1.1\r\n',
      ' /api/auth/verify HTTP/1.1\r\n',
      ' /%c0%af HTTP/1.0\r\n',
      ' * HTTP/1.1\r\n',
      ' http://[::1]/x HTTP/1.1\r\n',
      ' //evil HTTP/1.1\r\n',
      ' /docs HTTP/3.9\r\n',
    ],
  },
  {
    weight: 4,
    texts: [
      'Host: a\r\n',
      'Host: a\r\nHost: b\r\n',
      'Content-Length: 5\r\n',
      'Content-Length: -1\r\n',
      'Transfer-Encoding: chunked\r\n',
      'Transfer-Encoding: gzip\r\n',
      'Expect: 100-continue\r\n',
      'Expect: x\r\n',
      'Upgrade: h2c\r\nConnection: Upgrade\r\n',
      'Content-Type: a/b\r\n',
      'Content-Type: application/json\r\n',
      'Origin: https://evil.example\r\n',
      'Trailer: x\r\n',
      'X-HTTP-Method-Override: PUT\r\n',
      ' folded\r\n',
    ],
  },
  {
    weight: 3,
    texts: ['\r\n', '\r\n\r\n', '0\r\n\r\n', '5\r\nabcde\r\n', 'ffffffffff\r\n'],
  },
];
