// That a memory was put away is a label as well. Step 50, taken again, would have labelled it as ended.
// Returns: changed INTEGER
MATCH (memory:Memory)
WHERE memory.status = 'archived' AND (memory:Ended OR NOT memory:Archived)
WITH memory LIMIT $limit
REMOVE memory:Ended
SET memory:Archived
RETURN count(memory) AS changed
