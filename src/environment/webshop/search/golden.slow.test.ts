import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { testData } from '../../../../test/support/test-data.js'
import { Pcg64 } from '../../../base/random/index.js'
import { searchText } from '../catalogue/product.js'
import { writeCatalogue } from '../catalogue.fixture.js'
import { openShop } from '../shop.js'
import { analyze } from './analyze.js'
import { Searcher } from './search.js'
import { words } from './words.js'

/**
 * Lucene itself, by the jar of Anserini that TRINITY_ANSERINI names: pip download --no-deps pyserini==0.22.1, then
 * unzip pyserini-0.22.1-py3-none-any.whl 'pyserini/resources/jars/*'.
 */
const jar = process.env.TRINITY_ANSERINI ?? ''
const note = jar ? '' : ' (skipped: TRINITY_ANSERINI does not name the jar)'

/** Texts as hexadecimal numbers, one in each line; what is asked for is the first argument. */
const PROGRAM = `
import io.anserini.analysis.DefaultEnglishAnalyzer;
import io.anserini.search.query.BagOfWordsQueryGenerator;
import java.io.*;
import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import java.util.*;
import org.apache.lucene.analysis.*;
import org.apache.lucene.analysis.standard.StandardTokenizer;
import org.apache.lucene.analysis.tokenattributes.CharTermAttribute;
import org.apache.lucene.document.*;
import org.apache.lucene.index.*;
import org.apache.lucene.search.*;
import org.apache.lucene.search.similarities.BM25Similarity;
import org.apache.lucene.store.ByteBuffersDirectory;
import org.apache.lucene.util.BytesRef;

public class Ask {
  static Analyzer english = DefaultEnglishAnalyzer.newDefaultInstance();
  static Analyzer plain = new Analyzer() {
    protected TokenStreamComponents createComponents(String field) {
      return new TokenStreamComponents(new StandardTokenizer());
    }
  };

  public static void main(String[] args) throws Exception {
    PrintStream out = new PrintStream(new BufferedOutputStream(System.out, 1 << 20), false, "UTF-8");
    List<String> texts = new ArrayList<>();
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line; (line = in.readLine()) != null; ) texts.add(unhex(line));
    if (args[0].equals("search")) search(texts, Integer.parseInt(args[1]), out);
    else for (String text : texts) out.println(tokens(args[0].equals("words") ? plain : english, text));
    out.flush();
  }

  /** The first texts are pairs of id and document, the others queries. */
  static void search(List<String> texts, int documents, PrintStream out) throws Exception {
    ByteBuffersDirectory directory = new ByteBuffersDirectory();
    BM25Similarity bm25 = new BM25Similarity(0.9f, 0.4f);
    try (IndexWriter writer = new IndexWriter(directory, new IndexWriterConfig(english).setSimilarity(bm25))) {
      for (int i = 0; i < 2 * documents; i += 2) {
        Document document = new Document();
        document.add(new StringField("id", texts.get(i), Field.Store.YES));
        document.add(new BinaryDocValuesField("id", new BytesRef(texts.get(i))));
        document.add(new TextField("contents", texts.get(i + 1), Field.Store.NO));
        writer.addDocument(document);
      }
    }
    IndexReader reader = DirectoryReader.open(directory);
    IndexSearcher searcher = new IndexSearcher(reader);
    searcher.setSimilarity(bm25);
    Sort sort = new Sort(SortField.FIELD_SCORE, new SortField("id", SortField.Type.STRING_VAL));
    for (String query : texts.subList(2 * documents, texts.size())) {
      Query asked = new BagOfWordsQueryGenerator().buildQuery("contents", english, query);
      StringBuilder line = new StringBuilder();
      for (ScoreDoc hit : searcher.search(asked, 50, sort, true).scoreDocs)
        line.append(' ').append(reader.document(hit.doc).get("id")).append(' ').append(hit.score);
      out.println(line.toString().trim());
    }
  }

  static String tokens(Analyzer analyzer, String text) throws Exception {
    StringBuilder line = new StringBuilder();
    try (TokenStream stream = analyzer.tokenStream("contents", text)) {
      CharTermAttribute term = stream.addAttribute(CharTermAttribute.class);
      stream.reset();
      while (stream.incrementToken()) line.append(' ').append(hex(term.toString()));
      stream.end();
    }
    return line.toString().trim();
  }

  static String hex(String text) {
    StringBuilder digits = new StringBuilder();
    for (char unit : text.toCharArray()) digits.append(String.format("%04x", (int) unit));
    return digits.toString();
  }

  static String unhex(String digits) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i + 4 <= digits.length(); i += 4) text.append((char) Integer.parseInt(digits.substring(i, i + 4), 16));
    return text.toString();
  }
}`

const folder = mkdtempSync(join(tmpdir(), 'trinity-lucene-'))
const data = writeCatalogue(folder)
afterAll(() => rmSync(folder, { recursive: true }))

const hex = (text: string) =>
  Array.from(text.split(''), (unit) => unit.charCodeAt(0).toString(16).padStart(4, '0')).join('')
const unhex = (digits: string) =>
  (digits.match(/.{4}/g) ?? []).map((one) => String.fromCharCode(Number.parseInt(one, 16))).join('')

function ask(texts: readonly string[], ...args: string[]): string[][] {
  const source = join(folder, 'Ask.java')
  writeFileSync(source, PROGRAM)
  const input = `${texts.map(hex).join('\n')}\n`
  const answer = execFileSync('java', ['-cp', jar, source, ...args], {
    input,
    maxBuffer: 1 << 30,
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  const lines = answer.toString().split('\n').slice(0, texts.length)
  return lines.map((line) => (line === '' ? [] : line.split(' ')))
}

/** Hits of every query, from Lucene and from us. */
async function hits(shopData: string, queries: readonly string[]) {
  const { catalogue } = await openShop({ data: shopData, num_products: null, human_goals: true, seed: 0 })
  const products = Array.from({ length: catalogue.size }, (_, i) => catalogue.product(i))
  const texts = products.flatMap((product) => [product.asin, searchText(product)])
  const theirs = ask([...texts, ...queries], 'search', String(products.length))
  const searcher = new Searcher(catalogue)
  return queries.map((query, i) => ({
    query,
    ours: searcher.search(query, 50).map(({ document, score }) => [products[document].asin, score]),
    theirs: (theirs[i].join(' ').match(/\S+ \S+/g) ?? []).map((hit) => {
      const [asin, score] = hit.split(' ')
      return [asin, Math.fround(Number(score))]
    }),
  }))
}

describe.skipIf(!jar)(`search against Lucene${note}`, () => {
  it('every code point is of its class: words around it are cut alike', () => {
    const around = (one: string) => [
      one,
      `a${one}b`,
      `1${one}1`,
      `カ${one}カ`,
      `ไ${one}`,
      `☀${one}☀`,
      `a:${one} 1,${one}`,
    ]
    const texts: string[] = []
    for (let code = 0; code < 0x32000; code++) {
      if (code < 0xd800 || code > 0xdfff) texts.push(around(String.fromCodePoint(code)).join(' '))
    }
    const theirs = ask(texts, 'words')
    expect(texts.filter((text, i) => words(text).map(hex).join(' ') !== theirs[i].join(' ')).length).toBe(0)
  }, 600_000)

  it('random texts have the same words and terms', () => {
    const random = new Pcg64(7)
    const parts =
      'a,b,1,2,_,.,\',",:,\u2019,\u0301,\u00ad,\u200d,\ufe0f,\ufe0e,\u20e3,☀,👍,🏻,ℹ,🅰,ไ,\u0e31,字,あ,カ,ー,א,한,🇦,#,*, ,-,é,ed,ing,s,ies'.split(
        ',',
      )
    const texts = Array.from({ length: 50_000 }, () =>
      Array.from({ length: 1 + random.below(9) }, () => parts[random.below(parts.length - 1)]).join(''),
    )
    for (const [kind, own] of [
      ['words', words],
      ['terms', analyze],
    ] as const) {
      const theirs = ask(texts, kind).map((all) => all.map(unhex))
      expect(texts.filter((text, i) => own(text).join('\0') !== theirs[i].join('\0'))).toEqual([])
    }
  }, 600_000)

  it('our catalogue', async () => {
    for (const { ours, theirs } of await hits(data, [
      'lamp',
      'organic shampoo for dry hair',
      'mint x-large',
      '★ 100%',
    ])) {
      expect(ours).toEqual(theirs)
    }
  }, 600_000)

  const queries = testData('webshop/goal_query_map.json')
  it.skipIf(queries.absent)(
    `500 queries over a thousand products${queries.note}`,
    async () => {
      const map: Record<string, string[]> = JSON.parse(readFileSync(queries.path, 'utf8'))
      const all = Object.entries(map)
        .slice(0, 250)
        .flatMap(([goal, [query]]) => [goal, query])
      const compared = await hits(testData('webshop').path, all)
      const equal = (most: number) =>
        compared.filter(
          ({ ours, theirs }) => JSON.stringify(ours.slice(0, most)) === JSON.stringify(theirs.slice(0, most)),
        )
      expect([1, 10, 50].map((most) => equal(most).length)).toEqual([500, 500, 500])
    },
    600_000,
  )
})
