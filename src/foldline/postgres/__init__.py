"""PostgreSQL databases that many machines share; the extra ``postgres``."""
