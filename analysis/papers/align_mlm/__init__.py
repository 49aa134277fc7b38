"""The report on ALIGN-MLM (Tang, Deshpande and Narasimhan 2022)."""
