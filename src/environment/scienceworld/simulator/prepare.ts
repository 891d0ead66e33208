import { devNull } from 'node:os'
import { call, construct } from '../py4j/command.js'
import type { Gateway } from '../py4j/gateway.js'
import { JavaReference, type JavaValue } from '../py4j/value.js'

const PREPARING = 'preparing the simulator'

/** The simulator prints all that happens, which nobody reads. */
export async function silence(gateway: Gateway): Promise<void> {
  const [nowhere] = await gateway.send(PREPARING, [construct('java.io.PrintStream', devNull)])
  await gateway.send(PREPARING, [call('java.lang.System', 'setOut', nowhere as JavaReference)])
  gateway.free(nowhere as JavaReference)
}

/** Nobody else may connect: who can speak to Java can run anything in our name. */
export async function shut(gateway: Gateway): Promise<void> {
  const server = new JavaReference('GATEWAY_SERVER')
  const field = await privateField(gateway, 'py4j.GatewayServer', 'sSocket')
  const socket = await get(gateway, field, server)
  await gateway.send(PREPARING, [call(socket, 'close')])
  for (const one of [field, socket]) gateway.free(one)
}

/** A field that nobody but its class may use. */
export async function privateField(gateway: Gateway, className: string, name: string): Promise<JavaReference> {
  const [owner] = await gateway.send(PREPARING, [call('java.lang.Class', 'forName', className)])
  const [field] = await gateway.send(PREPARING, [call(owner as JavaReference, 'getDeclaredField', name)])
  await gateway.send(PREPARING, [call(field as JavaReference, 'setAccessible', true)])
  gateway.free(owner as JavaReference)
  return field as JavaReference
}

/** The object in a field; `null` stands for the class itself. */
export async function get(gateway: Gateway, field: JavaReference, of: JavaReference | null): Promise<JavaReference> {
  const [value]: JavaValue[] = await gateway.send(PREPARING, [call(field, 'get', of)])
  return value as JavaReference
}
