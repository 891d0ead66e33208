// Asks a hosted model with the very file that is trained: OPENAI_API_KEY=… node hosted.mjs ai-sdk "How much are 7 pears?"
const [name = 'ai-sdk', question = 'How much are 7 pears?'] = process.argv.slice(2)
const { answer } = await import(`./agents/${name}.mjs`)
console.log(await answer(question, { pear: 13, apple: 24 }))
