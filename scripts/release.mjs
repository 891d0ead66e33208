// Makes the packages of a release: trinity-rft, one with the compiled engine for each platform, and create-trinity.
//   node scripts/release.mjs --pack DIR          all tarballs, checked
//   node scripts/release.mjs --publish DIR […]   publishes what --pack made, platforms first; the rest goes to npm publish
// What is packed of trinity-rft differs from the checkout in its optionalDependencies alone: a clone compiles instead.
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { fallback, packageName, platforms } from '../native/prebuilt.mjs'
import { libraryFormat } from './library-format.mjs'
import { root } from './native-units.mjs'
import { prebuildAll, prebuiltAddon } from './prebuild-native.mjs'
import { prebuildWasm } from './prebuild-wasm.mjs'

const LIMITS = { platform: 2e6, main: 5e6 }
const own = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

/** Where a workflow of GitHub runs, npm signs which commit and which run made a package: that needs the repository. */
const { GITHUB_REPOSITORY, GITHUB_SERVER_URL } = process.env
const signed = GITHUB_REPOSITORY && {
  repository: { type: 'git', url: `git+${GITHUB_SERVER_URL}/${GITHUB_REPOSITORY}.git` },
}

/** What every package says of itself. */
const common = {
  version: own.version,
  license: own.license,
  engines: own.engines,
  ...signed,
  publishConfig: { access: 'public', ...(signed && { provenance: true }) },
}

function npm(args, cwd) {
  return execFileSync('npm', args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] })
}

function writeJson(path, value) {
  writeFileSync(path, `${JSON.stringify(value, null, 2)}\n`)
}

/** What package managers go by; the fallback names nothing, and is installed everywhere. */
function placeOf(platform) {
  if (platform === fallback) return {}
  const { os, cpu, libc } = platforms[platform]
  return { os: [os], cpu: [cpu], ...(libc && { libc: [libc] }) }
}

function platformManifest(platform, names) {
  return {
    name: packageName(platform),
    description: `The native engine of trinity-rft, compiled for ${platform}`,
    ...common,
    ...placeOf(platform),
    main: names[0],
    files: names,
    preferUnplugged: true,
  }
}

/** `paths`: what is in it, the file that Node loads first and the compiled one last. */
function packPlatform(platform, paths, scratch, into) {
  const { os, cpu } = platforms[platform] ?? { os: 'any', cpu: platform }
  const found = libraryFormat(readFileSync(paths.at(-1)))
  if (found?.os !== os || found.cpu !== cpu) throw new Error(`${paths.at(-1)} is not for ${platform}`)
  const folder = join(scratch, platform)
  mkdirSync(folder)
  writeJson(
    join(folder, 'package.json'),
    platformManifest(
      platform,
      paths.map((path) => basename(path)),
    ),
  )
  for (const path of paths) cpSync(path, join(folder, basename(path)))
  cpSync(join(root, 'LICENSE'), join(folder, 'LICENSE'))
  const text = `The native engine of [trinity-rft](https://www.npmjs.com/package/trinity-rft), compiled for ${platform}.\n`
  writeFileSync(join(folder, 'README.md'), `# ${packageName(platform)}\n\n${text}`)
  return pack(folder, into)
}

/** Packed twice: as it lies here, to have the files that npm chooses, and again with the packages of the platforms. */
function packMain(names, scratch, into) {
  npm(['pack', '--ignore-scripts', '--silent', '--pack-destination', scratch], root)
  execFileSync('tar', ['xzf', join(scratch, `${own.name}-${own.version}.tgz`), '-C', scratch])
  const folder = join(scratch, 'package')
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const { install } = manifest.scripts
  writeJson(join(folder, 'package.json'), {
    ...manifest,
    ...common,
    scripts: { install },
    devDependencies: undefined,
    optionalDependencies: {
      ...manifest.optionalDependencies,
      ...Object.fromEntries(names.map((name) => [packageName(name), own.version])),
    },
  })
  return pack(folder, into)
}

function pack(folder, into) {
  return JSON.parse(npm(['pack', '--ignore-scripts', '--json', '--pack-destination', into], folder))[0]
}

/** What is wrong with a packed package, if anything. */
function faultOf(packed, limit) {
  if (packed.version !== own.version) return `has version ${packed.version}, not ${own.version}`
  if (packed.size >= limit) return `has ${packed.size} bytes, the limit is ${limit}`
  return undefined
}

async function packAll(into, names) {
  if (!statSync(join(root, 'dist'), { throwIfNoEntry: false })) throw new Error('dist/ is missing: npm run build')
  mkdirSync(into, { recursive: true })
  const binaries = names.filter((name) => name !== fallback)
  await prebuildAll(binaries)
  const paths = Object.fromEntries(binaries.map((name) => [name, [prebuiltAddon(name)]]))
  if (names.includes(fallback)) paths[fallback] = await prebuildWasm()
  const scratch = mkdtempSync(join(tmpdir(), 'trinity-release-'))
  try {
    const all = names.map((name) => [packPlatform(name, paths[name], scratch, into), LIMITS.platform])
    all.push([packMain(names, scratch, into), LIMITS.main])
    all.push([pack(join(root, 'packages/create-trinity'), into), LIMITS.platform])
    for (const [packed, limit] of all) {
      console.log(`${packed.filename}: ${(packed.size / 1e3).toFixed(0)} kB, ${packed.entryCount} files`)
      const fault = faultOf(packed, limit)
      if (fault) throw new Error(`${packed.name} ${fault}`)
    }
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

/** What others ask for first: whoever installs in between must find it. */
function publishAll(from, args) {
  const files = readdirSync(from).filter((file) => file.endsWith(`-${own.version}.tgz`))
  const main = `${own.name}-${own.version}.tgz`
  if (!files.includes(main)) throw new Error(`${from} has no ${main}: run --pack first`)
  const after = [main, ...files.filter((file) => file.startsWith('create-'))]
  for (const file of [...files.filter((one) => !after.includes(one)), ...after]) {
    npm(['publish', join(from, file), ...args], from)
    console.log(`published ${file}`)
  }
}

const [action, folder, ...rest] = process.argv.slice(2)
if (action === '--pack' && folder)
  await packAll(resolve(folder), rest.length ? rest : [...Object.keys(platforms), fallback])
else if (action === '--publish' && folder) publishAll(resolve(folder), rest)
else {
  console.error('usage: node scripts/release.mjs --pack DIR [platform …] | --publish DIR [option of npm publish …]')
  process.exit(2)
}
