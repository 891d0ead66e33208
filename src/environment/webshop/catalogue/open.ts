import { stat } from 'node:fs/promises'
import { TrinityError } from '../../../base/error.js'
import type { Logger } from '../../../base/log/logger.js'
import { catalogueInMemory, openBuilt } from './build.js'
import { Catalogue } from './catalogue.js'
import { CATALOGUE, DOWNLOADS, findFiles, firstOf, SMALL_BYTES, SMALL_PRODUCTS } from './files.js'

/**
 * Opens the catalogue in a folder: what `trinity data webshop` has made of it, or the files themselves where they are
 * small enough to be read in a moment.
 */
export async function openCatalogue(
  data: string | undefined,
  products: number | null,
  logger?: Logger,
): Promise<Catalogue> {
  if (data === undefined || data === '') {
    throw new TrinityError('environment/data', 'webshop does not know where its products are', {
      path: 'environment_args.data',
      hint: `name the folder with 'data', or with the variable WEBSHOP_PATH; to get the products: ${DOWNLOADS}`,
    })
  }
  const built = data.endsWith('.db') ? data : await firstOf([data], [CATALOGUE])
  if (built !== undefined && products === null) return new Catalogue(openBuilt(built))
  const files = await findFiles(data, products)
  const { size } = await stat(files.products)
  if (size > SMALL_BYTES && (products ?? Number.POSITIVE_INFINITY) > SMALL_PRODUCTS) {
    throw new TrinityError('environment/catalogue', `${files.products} is too large to be read for every run`, {
      path: files.products,
      hint: 'make a catalogue of it once: trinity data webshop; then give its folder as data',
    })
  }
  logger?.debug(`webshop: reading ${files.products}`)
  return new Catalogue(await catalogueInMemory(files, { products }))
}
