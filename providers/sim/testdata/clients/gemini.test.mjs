import assert from 'node:assert/strict'
import test from 'node:test'
import {ApiError, GoogleGenAI} from '@google/genai'
import {OAuth2Client} from 'google-auth-library'
import {chaosHeader, checks, model, url} from './support.mjs'

const keyed = headers => new GoogleGenAI({apiKey: 'none', httpOptions: {baseUrl: url, headers}})

// Vertex mode asks for credentials; an access token that is there already needs no network.
function vertex(headers) {
  const authClient = new OAuth2Client()
  authClient.setCredentials({access_token: 'none', expiry_date: Date.now() + 3600_000})
  return new GoogleGenAI({vertexai: true, project: 'p', location: 'l', googleAuthOptions: {authClient}, httpOptions: {baseUrl: url, headers}})
}

for (const [name, connect] of Object.entries({'gemini': keyed, 'vertex ai': vertex})) {
  checks(name, {
    user: prompt => [{role: 'user', parts: [{text: prompt}]}],
    async ask(contents, {stream, tools, schema, chaos, model: name = model}) {
      const client = connect(chaos ? {[chaosHeader]: chaos} : {})
      const config = {systemInstruction: 'Obey.'}
      if (tools) config.tools = [{functionDeclarations: tools.map(t => ({name: t.name, description: t.description, parametersJsonSchema: t.schema}))}]
      if (schema) Object.assign(config, {responseMimeType: 'application/json', responseJsonSchema: schema})
      const request = {model: name, contents, config}
      const chunks = []
      if (stream) {
        for await (const chunk of await client.models.generateContentStream(request)) chunks.push(chunk)
      } else {
        chunks.push(await client.models.generateContent(request))
      }
      const parts = chunks.flatMap(c => c.candidates?.[0]?.content?.parts ?? [])
      const usage = chunks.at(-1).usageMetadata
      return {
        text: parts.map(p => p.text ?? '').join(''), calls: chunks.flatMap(c => c.functionCalls ?? []), pieces: chunks.length,
        input: usage.promptTokenCount, output: usage.candidatesTokenCount, state: parts.filter(p => p.text !== ''),
      }
    },
    answer: (contents, reply, results) => [...contents, {role: 'model', parts: reply.state},
      {role: 'user', parts: results.map((output, i) => ({functionResponse: {id: reply.calls[i].id, name: reply.calls[i].name, response: {output}}}))}],
    error: err => err instanceof ApiError ? {status: err.status} : null,
  })
}

test('gemini: chat', async () => {
  const chat = keyed({}).chats.create({model})
  assert.equal((await chat.sendMessage({message: 'say one'})).text, 'one')
  assert.equal((await chat.sendMessage({message: 'say two'})).text, 'two')
})

test('gemini: models', async () => {
  const names = []
  for await (const m of await keyed({}).models.list()) names.push(m.name)
  assert.ok(names.includes(`models/${model}`))
  assert.equal((await keyed({}).models.get({model})).name, `models/${model}`)
})
