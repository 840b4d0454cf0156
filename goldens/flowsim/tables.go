package flowsim

import (
	"cmp"
	"encoding/json"
	"errors"

	"github.com/cupel-eval/cupel/goldens/flowsim/table"
	"github.com/cupel-eval/cupel/goldens/world"
)

var tableID = described(idSchema, "The id of a data table, such as dt_1.")

var tableTools = []offer{
	{"list-data-tables", groupTableRead, "Lists all data tables with their columns and their number of rows.", object{}, reading((*instance).listTables)},
	{"create-data-table", groupTableWrite, "Creates a data table. Every table has the columns id, createdAt and updatedAt besides its own.",
		object{"name!": text(128), "columns!": listOf(object{"name!": text(128), "type!": oneOf(table.Types...)}.schema(), 0, 50)}, reading((*instance).createTable)},
	{"delete-data-table", groupTableWrite, "Deletes a data table with all its rows, for ever.", object{"dataTableId!": tableID}, reading((*instance).deleteTable)},
	{"get-data-table-schema", groupTableRead, "Returns the columns of a data table.", object{"dataTableId!": tableID}, reading((*instance).tableSchema)},
	{"add-data-table-column", groupTableWrite, "Adds a column to a data table; it is null in every row.",
		object{"dataTableId!": tableID, "columnName!": text(128), "type!": oneOf(table.Types...)}, reading((*instance).addColumn)},
	{"delete-data-table-column", groupTableWrite, "Deletes a column of a data table with its values.", object{"dataTableId!": tableID, "columnName!": text(128)}, reading((*instance).deleteColumn)},
	{"rename-data-table-column", groupTableWrite, "Renames a column of a data table.", object{"dataTableId!": tableID, "columnName!": text(128), "newName!": text(128)}, reading((*instance).renameColumn)},
	{"query-data-table-rows", groupTableRead, "Returns the rows of a data table that match a filter, in the order of their insertion, and how many match.",
		object{"dataTableId!": tableID, "filter": filterSchema, "limit": whole(1, table.MaxRowsACall, 50), "offset": whole(0, table.MaxRows, 0)}, reading((*instance).queryRows)},
	{"insert-data-table-rows", groupTableWrite, "Inserts rows into a data table: all of them, or none if one does not fit.",
		object{"dataTableId!": tableID, "rows!": listOf(rowSchema, 1, table.MaxRowsACall)}, reading((*instance).insertRows)},
	{"update-data-table-rows", groupTableWrite, "Changes columns of the rows that match a filter, which needs at least one condition.",
		object{"dataTableId!": tableID, "filter!": filterSchema, "data!": rowSchema}, reading((*instance).updateRows)},
	{"delete-data-table-rows", groupTableWrite, "Deletes the rows that match a filter, which needs at least one condition, for ever.",
		object{"dataTableId!": tableID, "filter!": filterSchema}, reading((*instance).deleteRows)},
}

// tableArgs are the arguments of the tools of data tables.
type tableArgs struct {
	DataTableID string           `json:"dataTableId"`
	Name        string           `json:"name"`
	Columns     []table.Column   `json:"columns"`
	ColumnName  string           `json:"columnName"`
	NewName     string           `json:"newName"`
	Type        string           `json:"type"`
	Filter      table.Filter     `json:"filter"`
	Limit       int              `json:"limit"`
	Offset      int              `json:"offset"`
	Rows        []map[string]any `json:"rows"`
	Data        map[string]any   `json:"data"`
}

// refused is the effect of an error of data tables.
func refused(err error) world.Effect {
	if fault, ok := errors.AsType[*table.Error](err); ok {
		return world.Refuse(fault.Code, "%s", fault.Message)
	}
	return world.Refuse("E_INVALID", "%s", err)
}

// onTable finds a table and acts on it. The table is found by its id only.
func (w *instance) onTable(a tableArgs, do func(t *table.Table) (any, error)) world.Effect {
	t, err := w.tables.Find(a.DataTableID)
	if err != nil {
		return refused(err)
	}
	v, err := do(t)
	if err != nil {
		return refused(err)
	}
	return give(v)
}

func done(err error) (any, error) { return map[string]any{"success": true}, err }

func shownTable(t *table.Table) map[string]any {
	columns := t.Columns
	if columns == nil {
		columns = []table.Column{}
	}
	return map[string]any{"columns": columns, "id": t.ID, "name": t.Name, "rowCount": len(t.Rows)}
}

func (w *instance) listTables(struct{}) world.Effect {
	out := []any{}
	for _, t := range w.tables.All() {
		out = append(out, shownTable(t))
	}
	return give(map[string]any{"dataTables": out})
}

func (w *instance) createTable(a tableArgs) world.Effect {
	t, err := w.tables.Create("", a.Name, a.Columns)
	if err != nil {
		return refused(err)
	}
	return give(shownTable(t))
}

func (w *instance) deleteTable(a tableArgs) world.Effect {
	return w.onTable(a, func(t *table.Table) (any, error) { w.tables.Delete(t); return done(nil) })
}

func (w *instance) tableSchema(a tableArgs) world.Effect {
	return w.onTable(a, func(t *table.Table) (any, error) { return shownTable(t), nil })
}

func (w *instance) addColumn(a tableArgs) world.Effect {
	return w.onTable(a, func(t *table.Table) (any, error) {
		return done(w.tables.AddColumn(t, table.Column{Name: a.ColumnName, Type: a.Type}))
	})
}

func (w *instance) deleteColumn(a tableArgs) world.Effect {
	return w.onTable(a, func(t *table.Table) (any, error) { return done(w.tables.DeleteColumn(t, a.ColumnName)) })
}

func (w *instance) renameColumn(a tableArgs) world.Effect {
	return w.onTable(a, func(t *table.Table) (any, error) { return done(w.tables.RenameColumn(t, a.ColumnName, a.NewName)) })
}

func (w *instance) queryRows(a tableArgs) world.Effect {
	return w.onTable(a, func(t *table.Table) (any, error) {
		rows, count, err := t.Query(a.Filter, a.Offset, cmp.Or(a.Limit, 50))
		return map[string]any{"count": count, "rows": shownRows(t, rows)}, err
	})
}

func shownRows(t *table.Table, rows []*table.Row) json.RawMessage {
	e := encoder{out: make([]byte, 0, 128*(len(rows)+1))}
	columns := names(t, "createdAt", "id", "updatedAt")
	array(&e, append([]*table.Row{}, rows[:min(len(rows), table.MaxRowsACall)]...), func(r *table.Row) { e.row(r, columns) })
	return e.out
}

func (w *instance) insertRows(a tableArgs) world.Effect {
	return w.onTable(a, func(t *table.Table) (any, error) {
		rows, err := w.tables.Insert(t, a.Rows, w.now)
		ids := []string{}
		for _, r := range rows {
			ids = append(ids, r.ID)
		}
		return map[string]any{"ids": ids, "insertedCount": len(rows)}, err
	})
}

func (w *instance) updateRows(a tableArgs) world.Effect {
	return w.onTable(a, func(t *table.Table) (any, error) {
		if len(a.Filter.Filters) == 0 || len(a.Data) == 0 {
			return nil, &table.Error{Code: "E_NO_FILTER", Message: "an update needs a filter with at least one condition, and data with at least one column"}
		}
		rows, err := w.tables.Update(t, a.Filter, a.Data, w.now)
		return map[string]any{"updatedCount": len(rows)}, err
	})
}

func (w *instance) deleteRows(a tableArgs) world.Effect {
	return w.onTable(a, func(t *table.Table) (any, error) {
		rows, err := w.tables.DeleteRows(t, a.Filter)
		return map[string]any{"deletedCount": len(rows)}, err
	})
}
