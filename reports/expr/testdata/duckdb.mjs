// Runs a query with DuckDB and prints JSON: its rows, and the least time in ms.
//
//   RUN=RUN-FOLDER node duckdb.mjs MODULES-FOLDER TIMES SQL
import { createRequire } from 'node:module';
import { join } from 'node:path';

const [modules, times, sql] = process.argv.slice(2);
const { DuckDBInstance } = createRequire(join(modules, 'package.json'))('@duckdb/node-api');
const instance = await DuckDBInstance.create(':memory:');
const connection = await instance.connect();
const text = sql.replaceAll("getenv('RUN')", `'${process.env.RUN.replaceAll("'", "''")}'`);
let rows, ms = Infinity;
for (let i = 0; i < Number(times); i++) {
  const start = performance.now();
  rows = (await connection.runAndReadAll(text)).getRowObjects();
  ms = Math.min(ms, performance.now() - start);
}
console.log(JSON.stringify({ rows, ms }, (_, v) => (typeof v === 'bigint' ? Number(v) : v)));
