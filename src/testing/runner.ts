/**
 * What the suites need of a test runner. They take it as their first argument, so that this package depends on none:
 * `import * as vitest from 'vitest'` is one, and so are the globals of Jest.
 */
export interface TestRunner {
  describe(name: string, body: () => void): unknown
  it(name: string, body: () => Promise<void>): unknown
  beforeAll(body: () => Promise<void>): unknown
  afterAll(body: () => Promise<void>): unknown
  afterEach(body: () => Promise<void>): unknown
  expect(actual: unknown): Matchers & { readonly rejects: AsyncMatchers }
}

interface Matchers {
  toBe(expected: unknown): void
  toEqual(expected: unknown): void
  toMatchObject(expected: object): void
  toHaveLength(expected: number): void
  toBeCloseTo(expected: number, digits?: number): void
  toBeLessThan(expected: number): void
  toBeLessThanOrEqual(expected: number): void
  toBeGreaterThan(expected: number): void
  toBeGreaterThanOrEqual(expected: number): void
}

interface AsyncMatchers {
  toBe(expected: unknown): Promise<void>
  toMatchObject(expected: object): Promise<void>
}
