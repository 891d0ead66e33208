import { describe, expect, it } from 'vitest'
import { looksLikeUrl, passwordsOf, withoutCredentials, withoutPassword } from './url.js'

describe('withoutPassword', () => {
  const shown: Record<string, string> = {
    'postgresql://user:hunter2@host:5432/db': 'postgresql://user:***@host:5432/db',
    'postgresql+psycopg2://user:p@ss@w0rd@host/db': 'postgresql+psycopg2://user:***@host/db',
    'postgresql://user:a:b/c?d#e@host/db': 'postgresql://user:***@host/db',
    'postgresql://user:p%40ss%2Fword@host/db': 'postgresql://user:***@host/db',
    'postgresql://user:with blank"quote@host/db': 'postgresql://user:***@host/db',
    'redis://:hunter2@host': 'redis://:***@host',
    'postgresql://host/db?user=u&password=hunter2&sslmode=require':
      'postgresql://host/db?user=u&password=***&sslmode=require',
    'postgresql://u@host/db?sslpassword=hun)ter;2': 'postgresql://u@host/db?sslpassword=***',
    'https://host/v1?access_token=abc&x=1#y': 'https://host/v1?access_token=***&x=1#y',
    'https://host/v1?x=1&api%5Fkey=abc': 'https://host/v1?x=1&api%5Fkey=***',
    'https://host/v1?key=AIzaSy1': 'https://host/v1?key=***',
    'https://bucket/x?X-Amz-Credential=AKIA%2Fa&X-Amz-Signature=9f':
      'https://bucket/x?X-Amz-Credential=***&X-Amz-Signature=***',
    'POSTGRESQL://me:hunter2@h/db': 'POSTGRESQL://me:***@h/db',
    // meant for a URL
    'postgresql:/me:hunter2@h/db': 'postgresql:/me:***@h/db',
    'postgresql//me:hunter2@h/db': 'postgresql//me:***@h/db',
    'postgresql:me:hunter2@h/db': 'postgresql:me:***@h/db',
    'postgres+psycopg2:/me:hunter2@h/db': 'postgres+psycopg2:/me:***@h/db',
    'POSTGRESQL:/me:hun@t/e:r2@h/db': 'POSTGRESQL:/me:***@h/db',
    'me:hunter2@127.0.0.1/db': 'me:***@127.0.0.1/db',
    'me:hunter2@host': 'me:***@host',
    'postgrsql:me:hunter2@h/db': 'postgrsql:***@h/db',
    // nothing to hide
    'Answer: mail me@home': 'Answer: mail me@home',
    'runs/a:b@c': 'runs/a:b@c',
    'postgresql://user@host/db': 'postgresql://user@host/db',
    'postgresql://user:@host/db': 'postgresql://user:@host/db',
    'http://host:8080/a/b?page=2': 'http://host:8080/a/b?page=2',
    'https://host/@user/a:b': 'https://host/@user/a:b',
    'sqlite:////tmp/x.db': 'sqlite:////tmp/x.db',
    'data/train.jsonl': 'data/train.jsonl',
    'http://h/x?max_tokens=5&eos_token=a': 'http://h/x?max_tokens=5&eos_token=a',
  }
  for (const [url, text] of Object.entries(shown)) it(url, () => expect(withoutPassword(url)).toBe(text))

  it('is the same when it is done twice', () => {
    for (const text of Object.values(shown)) expect(withoutPassword(text)).toBe(text)
  })
})

describe('withoutCredentials', () => {
  it('finds URLs, assignments and headers in running text', () => {
    const text = 'cannot reach "postgres://a:b@c@h/d", then https://u:x@h/: --set m.api_key=sk-1 failed'
    expect(withoutCredentials(text)).toBe(
      'cannot reach "postgres://a:***@h/d", then https://u:***@h/: --set m.api_key=*** failed',
    )
    expect(withoutCredentials('{"authorization": "Bearer abc.def"}')).toBe('{"authorization": "***"}')
    expect(withoutCredentials('host=db user=u password=hunter2 dbname=x')).toBe('host=db user=u password=*** dbname=x')
    expect(withoutCredentials("password='two words'")).toBe('password=***')
  })

  it('finds what was meant for a URL', () => {
    const shown: Record<string, string> = {
      "cannot open '/w/POSTGRESQL:/me:hunter2@h/db': no such file":
        "cannot open '/w/POSTGRESQL:/me:***@h/db': no such file",
      'no such file: postgresql//me:hun@ter2@h/db': 'no such file: postgresql//me:***@h/db',
      'no such file: postgresql:me:hunter2@h/db': 'no such file: postgresql:me:***@h/db',
      'bad url me:hunter2@127.0.0.1, try again': 'bad url me:***@127.0.0.1, try again',
      '"me:hunter2@db.example.com:5432"': '"me:***@db.example.com:5432"',
    }
    for (const [text, hidden] of Object.entries(shown)) expect(withoutCredentials(text)).toBe(hidden)
  })

  it('leaves other text alone, fast', () => {
    const text =
      'step 3: tokens=5 prompt_key=question http://127.0.0.1:8000/v1 mean@4, mail a@b.c, 12:30, x:mean@4, https: me@b'
    expect(withoutCredentials(text)).toBe(text)
    const begun = performance.now()
    for (const piece of [
      'a://',
      'a:',
      '=',
      'a=',
      'authorization:',
      'aaaa',
      '://:@',
      'a:b@',
      'a:@',
      'http:',
      'sqlite//a:b',
      'a:b@c.',
      'a.',
    ]) {
      withoutCredentials(piece.repeat(20_000))
    }
    expect(performance.now() - begun).toBeLessThan(10_000)
  })
})

it('looksLikeUrl tells what was meant for a URL from a path', () => {
  const urls = [
    'postgresql:/me:x@h/db',
    'postgresql//me@h/db',
    'postgresql:h',
    'me:x@h/db',
    'SQLITE//x.db',
    'pg:/h',
    'a:b@c',
  ]
  expect(urls.filter((url) => !looksLikeUrl(url))).toEqual([])
  const paths = [
    'x.jsonl',
    'data//x.jsonl',
    './a:b@c',
    '/a:b@c',
    'C:/x@y',
    'C:\\x',
    'sqlite/x.jsonl',
    'a@b/c',
    'a:b.jsonl',
  ]
  expect(paths.filter(looksLikeUrl)).toEqual([])
})

it('passwordsOf gives what a driver would use, as written and decoded', () => {
  expect(passwordsOf('postgresql://u:p%40ss@h/d?sslpassword=x%20y')).toEqual(['p%40ss', 'p@ss', 'x%20y', 'x y'])
  expect(passwordsOf('postgresql://u@h/d')).toEqual([])
  expect(passwordsOf('postgresql:/u:p%40ss@h/d')).toEqual(['p%40ss', 'p@ss'])
  expect(passwordsOf('u:hunter2@h/d')).toEqual(['hunter2'])
  expect(passwordsOf('a text with x://u:p@h')).toEqual([])
})
